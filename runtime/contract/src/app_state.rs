//! Application state: what the program around a session shares with the tools, one value a type.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::tool::ToolError;

/// Values that the embedder gives to all tools of a session, by their type. Cheap to clone.
///
/// A tool reads it; what can be changed through it is up to the types that are put in. State of
/// the session itself is [`SessionContext::values`](crate::SessionContext::values).
///
/// ```
/// use toolwright_contract::AppState;
///
/// struct Database { url: String }
///
/// let state = AppState::default().with(Database { url: "sqlite::memory:".into() });
/// assert_eq!(state.get::<Database>().map(|it| &*it.url), Some("sqlite::memory:"));
/// assert!(state.get::<u64>().is_none());
/// ```
#[derive(Clone, Default)]
pub struct AppState(Arc<HashMap<TypeId, Kept>>);

#[derive(Clone)]
struct Kept {
    type_name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

impl AppState {
    /// Puts a value in, in the place of one of the same type.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, value: T) -> Self {
        let kept = Kept { type_name: type_name::<T>(), value: Arc::new(value) };
        Arc::make_mut(&mut self.0).insert(TypeId::of::<T>(), kept);
        self
    }

    /// The value of a type, if there is one.
    #[must_use]
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.value.downcast_ref()
    }

    /// The same, to be kept by what outlives the call.
    #[must_use]
    pub fn share<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>())?.value.clone().downcast().ok()
    }

    /// The value of a type that the tool can't do without.
    ///
    /// # Errors
    ///
    /// A failure of the call, in words for the model, if the program hasn't put one in.
    pub fn need<T: Any + Send + Sync>(&self) -> Result<&T, ToolError> {
        self.get().ok_or_else(|| {
            ToolError::failed(format!(
                "The program around this session has not given its tools a {}, so this one can't \
                 work: tell the user.",
                type_name::<T>()
            ))
        })
    }
}

impl fmt::Debug for AppState {
    /// The types alone: values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut types: Vec<_> = self.0.values().map(|it| it.type_name).collect();
        types.sort_unstable();
        f.debug_tuple("AppState").field(&types).finish()
    }
}

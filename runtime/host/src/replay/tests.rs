//! Specification of the replay: what each option does to a recording.

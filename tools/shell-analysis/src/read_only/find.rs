//! Which expressions of `find` only read.

use crate::understanding::Word;

/// Tests and options without a value.
const PLAIN: &str = " -H -L -P -a -and -daystart -depth -d -empty -executable -false -follow -ignore_readdir_race \
    -ls -mount -nogroup -noleaf -noignore_readdir_race -not -nouser -o -or -print -print0 -prune -quit -readable -true \
    -warn -nowarn -writable -xdev ";
/// Tests and options with a value.
const VALUED: &str = " -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname \
    -inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -newer \
    -newermt -newerct -newerat -path -perm -printf -regex -regextype -samefile -size -type -uid -user \
    -used -wholename -xtype ";

/// Whether no expression runs, writes or removes anything.
pub(super) fn reads(words: &[Word]) -> bool {
    let mut words = words.iter();
    let mut started = false;
    while let Some(word) = words.next() {
        if word.may_become_option() || (word.may_split() && word.text.starts_with('-')) {
            return false;
        }
        let text = word.text.as_str();
        let listed = |list: &str| list.split_ascii_whitespace().any(|it| it == text);
        match text {
            "(" | ")" | "!" | "," => started = true,
            _ if text.starts_with('-') => {
                started = true;
                let valued = listed(VALUED);
                if !valued && !listed(PLAIN) {
                    return false;
                }
                // An unquoted pattern may become several words, and the second an action.
                if valued && words.next().is_none_or(Word::may_split) {
                    return false;
                }
            }
            _ if started => return false,
            _ => {}
        }
    }
    true
}

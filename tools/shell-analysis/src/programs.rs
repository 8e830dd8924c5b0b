//! What is known of single programs: their options, and what their operands are.

/// What the operands of a program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operands {
    /// No files.
    Text,
    /// Files that are read.
    Read,
    /// A pattern, unless an option gives one, then files that are read.
    PatternThenRead,
    /// Files that are made, changed or removed.
    Write,
    /// A mode or an owner, then files that are changed.
    ModeThenWrite,
    /// Files that are read, and the last one is written.
    ReadThenWrite,
}
use Operands::{ModeThenWrite, PatternThenRead, Read, ReadThenWrite, Text, Write};

/// What is known of a program.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) operands: Operands,
    /// Options in the notation of [`crate::options`].
    pub(crate) options: &'static str,
    /// Whether it changes nothing, with these options.
    pub(crate) read_only: bool,
}

/// Looks a program up.
pub(crate) fn known(name: &str) -> Option<Program> {
    let reading = READING.iter().map(|it| (it, true));
    let (row, read_only) =
        reading.chain(WRITING.iter().map(|it| (it, false))).find(|(row, _)| row.0 == name)?;
    Some(Program { name: row.0, operands: row.1, options: row.2, read_only })
}

type Row = (&'static str, Operands, &'static str);

const GREP: &str = "* -e= -f< -m= -A= -B= -C= -d= -D= --regexp= --file< --max-count= \
    --after-context= --before-context= --context= --include= --exclude= --exclude-dir= \
    --exclude-from< --label=";
const SUM: &str = "-b -t -c -z --binary --text --check --tag --quiet --status --strict -w --warn";

/// Programs that change nothing with these options: the set of Claude Code (docs 2.1.240) and others
/// whose every option listed here only reads.
const READING: &[Row] = &[
    ("((", Text, "*"),
    (":", Text, "*"),
    ("[", Text, "*"),
    ("[[", Text, "*"),
    ("arch", Text, "*"),
    ("basename", Text, "*"),
    ("break", Text, ""),
    ("cat", Read, "*"),
    ("cmp", Read, "* -n= -i= --bytes= --ignore-initial="),
    ("column", Read, "-t -x -s= -c= -N= -o= -R= -H= -n= -J --table --separator= --output-width="),
    ("comm", Read, "* --output-delimiter="),
    ("continue", Text, ""),
    ("cut", Read, "* -d= -f= -c= -b= --delimiter= --fields= --characters= --output-delimiter="),
    ("date", Text, "-u -R -I? -d= -r< --utc --iso-8601? --date= --reference< --rfc-3339="),
    ("df", Read, "* -t= -x= -B= --output? --type= --exclude-type="),
    (
        "diff",
        Read,
        "-u -U= -q -r -N -w -b -B -i -y -c -C= -a -s -t -T -d -E -Z -x= -W= -L= --brief --recursive \
         --unified? --color? --side-by-side --width= --exclude= --ignore-all-space --new-file \
         --ignore-case --ignore-blank-lines --ignore-space-change --text --label= --minimal \
         --strip-trailing-cr --suppress-common-lines --no-dereference --context?",
    ),
    ("dirname", Text, "*"),
    (
        "du",
        Read,
        "* -d= -t= -B= -X< --max-depth= --threshold= --exclude= --exclude-from< \
        --files0-from< --block-size=",
    ),
    ("echo", Text, "*"),
    ("egrep", PatternThenRead, GREP),
    ("exit", Text, ""),
    ("expand", Read, "* -t="),
    ("false", Text, "*"),
    (
        "fd",
        PatternThenRead,
        "-H -I -u -s -i -g -F -a -L -p -0 -l -1 -q -t= -e= -E= -d= -c= -S= -j= -o= --hidden \
         --no-ignore --unrestricted --case-sensitive --ignore-case --glob --fixed-strings \
         --absolute-path --follow --full-path --print0 --type= --extension= --exclude= --max-depth= \
         --min-depth= --exact-depth= --size= --changed-within= --changed-before= --color= \
         --max-results= --quiet --no-ignore-vcs",
    ),
    ("fgrep", PatternThenRead, GREP),
    (
        "file",
        Read,
        "-b -i -L -h -k -z -0 -r -s --brief --mime --mime-type --mime-encoding \
        --dereference --no-dereference",
    ),
    ("fold", Read, "* -w= --width="),
    ("free", Text, "*"),
    ("grep", PatternThenRead, GREP),
    ("groups", Text, "*"),
    ("head", Read, "* -n= -c= --lines= --bytes="),
    ("hexdump", Read, "* -n= -s= -e= -f<"),
    ("id", Text, "*"),
    ("ls", Read, "* -I= -w= -T= --ignore= --width= --tabsize= --block-size= --hide="),
    ("lsof", Text, "-i? -p= -n -P -t -u= -c= -a -l -b -w"),
    ("md5sum", Read, SUM),
    ("nl", Read, "* -b= -d= -f= -h= -i= -l= -n= -s= -v= -w="),
    ("nproc", Text, "*"),
    ("od", Read, "* -A= -t= -N= -j= -w= -S="),
    ("paste", Read, "* -d= --delimiters="),
    ("pgrep", Text, "*"),
    ("printf", Text, ""),
    ("pwd", Text, "*"),
    ("readlink", Read, "*"),
    ("realpath", Read, "* --relative-to= --relative-base="),
    ("return", Text, ""),
    ("rev", Read, "*"),
    (
        "rg",
        PatternThenRead,
        "-e= -f< -i -S -s -w -x -v -n -N -c -l -o -q -F -P -U -u -a -H -I -L -0 -p -h -A= -B= -C= \
         -m= -g= -t= -T= -j= -d= -M= -r= -E= --regexp= --file< --ignore-case --smart-case \
         --case-sensitive --word-regexp --line-regexp --invert-match --line-number --no-line-number \
         --count --count-matches --files --files-with-matches --files-without-match --only-matching \
         --quiet --fixed-strings --pcre2 --multiline --multiline-dotall --unrestricted --text \
         --with-filename --no-filename --follow --null --pretty --heading --no-heading \
         --after-context= --before-context= --context= --max-count= --glob= --iglob= --type= \
         --type-not= --type-list --threads= --max-depth= --max-columns= --replace= --hidden \
         --no-ignore --no-ignore-vcs --no-ignore-parent --color= --colors= --sort= --sortr= --json \
         --stats --trim --vimgrep --column --no-messages --encoding= --no-config --debug --version",
    ),
    ("seq", Text, "-s= -f= -w -#"),
    ("set", Text, "*"),
    ("sha1sum", Read, SUM),
    ("sha256sum", Read, SUM),
    ("sha512sum", Read, SUM),
    ("sleep", Text, ""),
    (
        "sort",
        Read,
        "-n -r -u -f -h -V -g -M -b -d -i -s -z -c -C -m -R -k= -t= --numeric-sort --reverse \
         --unique --ignore-case --human-numeric-sort --version-sort --general-numeric-sort --stable \
         --zero-terminated --check? --key= --field-separator= --ignore-leading-blanks \
         --dictionary-order",
    ),
    (
        "ss",
        Text,
        "-t -u -l -n -p -a -4 -6 -s -e -o -m -i -x -H --tcp --udp --listening --numeric \
        --processes --all --summary",
    ),
    ("stat", Read, "* -c= --format= --printf="),
    ("strings", Read, "* -n= -t= -e= --bytes= --radix= --encoding="),
    ("tac", Read, "* -s= --separator="),
    ("tail", Read, "* -n= -c= -s= --lines= --bytes= --pid= --sleep-interval="),
    ("test", Text, "*"),
    ("tput", Text, "-T="),
    ("tr", Text, "*"),
    (
        "tree",
        Read,
        "-a -d -f -l -x -L= -I= -P= -C -n -s -h -p -u -g -D -F -i -q -N -r -t -U -v \
        --dirsfirst --noreport --gitignore --prune --du --si --charset= --filelimit= --matchdirs",
    ),
    ("true", Text, "*"),
    ("tty", Text, "*"),
    ("type", Text, "*"),
    ("uname", Text, "*"),
    (
        "uniq",
        Read,
        "-c -d -D -i -u -z -f= -s= -w= --count --repeated --ignore-case --unique \
        --skip-fields= --skip-chars= --check-chars=",
    ),
    ("uptime", Text, "*"),
    ("wc", Read, "* --files0-from< --total="),
    ("whereis", Text, "*"),
    ("which", Text, "*"),
    ("whoami", Text, "*"),
];

/// Programs that change files, and which.
const WRITING: &[Row] = &[
    ("chgrp", ModeThenWrite, "-R -v -c -f -h -H -L -P --recursive --verbose --no-dereference"),
    ("chmod", ModeThenWrite, "-R -v -c -f --recursive --verbose --changes --silent --quiet"),
    ("chown", ModeThenWrite, "-R -v -c -f -h -H -L -P --recursive --verbose --no-dereference"),
    (
        "cp",
        ReadThenWrite,
        "-r -R -a -p -f -n -i -v -u -L -P -H -d -T -l -s -x -b --recursive --archive --force \
         --no-clobber --verbose --update? --parents --no-target-directory --preserve? \
         --dereference --no-dereference --interactive",
    ),
    (
        "ln",
        ReadThenWrite,
        "-s -f -n -v -T -r -i -L -P --symbolic --force --no-dereference --verbose \
        --relative --no-target-directory",
    ),
    ("mkdir", Write, "-p -m= -v --parents --mode= --verbose"),
    ("mkfifo", Write, "-m= --mode="),
    (
        "mv",
        Write,
        "-f -n -i -v -u -T -b --force --no-clobber --interactive --verbose --update? \
        --no-target-directory",
    ),
    (
        "rm",
        Write,
        "-r -R -f -i -I -v -d --recursive --force --verbose --dir --interactive? \
        --one-file-system --no-preserve-root --preserve-root?",
    ),
    ("rmdir", Write, "-p -v --parents --verbose --ignore-fail-on-non-empty"),
    (
        "shred",
        Write,
        "-f -n= -s= -u -v -x -z --force --iterations= --size= --remove? --verbose \
        --exact --zero",
    ),
    ("tee", Write, "-a -i -p --append --ignore-interrupts --output-error?"),
    ("touch", Write, "-a -c -m -h -f -t= -d= -r< --no-create --date= --reference< --time="),
    ("truncate", Write, "-c -o -s= -r< --no-create --size= --reference<"),
    ("unlink", Write, ""),
];

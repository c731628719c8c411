use super::allows;

/// Patterns with a command that an option makes dangerous.
const REJECTED: &[(&str, &str)] = &[
    ("find *", "find . -exec rm x +"),
    ("find *", "find . -execdir rm x +"),
    ("find *", "find . -ok rm x +"),
    ("find *", "find . -name x -delete"),
    ("find *", "find . -fprintf x y"),
    ("fd *", "fd -x rm"),
    ("fd *", "fd --exec-batch rm"),
    ("tar *", "tar xf a.tar --to-command=sh"),
    ("tar *", "tar cf a.tar --checkpoint=1 --checkpoint-action=exec=sh ."),
    ("tar *", "tar -Ish -xf a.tar"),
    ("tar *", "tar xfI a.tar sh"),
    ("rg *", "rg --pre=sh x"),
    ("rg *", "rg --pre sh x"),
    ("sed *", "sed -i s/a/b/ x"),
    ("sed *", "sed -ni p x"),
    ("sed *", "sed --in-place s/a/b/ x"),
    ("sed *", "sed '1e id' x"),
    ("sed *", "sed 's/a/b/e' x"),
    ("sed *", "sed 's/a/b/w out' x"),
    ("sed *", "sed -n 'w out' x"),
    ("sed *", "sed p x -e '1e id'"),
    ("sed *", "sed -f script x"),
    ("awk *", "awk 'BEGIN { system(\"id\") }'"),
    ("awk *", "awk 'BEGIN { print 1 > \"x\" }'"),
    ("awk *", "awk 'BEGIN { \"id\" | getline }'"),
    ("awk *", "awk -f script.awk x"),
    ("ssh *", "ssh -o ProxyCommand=sh host"),
    ("ssh *", "ssh -oProxyCommand=sh host"),
    ("curl *", "curl -o x http://a"),
    ("curl *", "curl -so x http://a"),
    ("curl *", "curl -K x"),
    ("curl *", "curl --output x http://a"),
    ("curl *", "curl --outp x http://a"),
    ("wget *", "wget -O x http://a"),
    ("npm *", "npm config set script-shell x"),
    ("npm *", "npm --loglevel silent config set a b"),
    ("npm run *", "npm run x --script-shell=y"),
    ("npm *", "npm exec x"),
    ("cargo *", "cargo --config a=b build"),
    ("cargo *", "cargo build --config=a=b"),
    ("cargo *", "cargo +nightly rustc -- -C linker=sh"),
    ("make *", "make SHELL=/tmp/x"),
    ("make *", "make --eval=x"),
    ("make *", "make CC=x"),
    ("sort *", "sort -o x y"),
    ("sort *", "sort -uo x y"),
    ("sort *", "sort --compress-program=sh y"),
    ("less *", "less -o x y"),
    ("less *", "less +x y"),
    ("man *", "man -P sh ls"),
    ("man *", "man --pager=sh ls"),
    ("vim *", "vim -c x"),
    ("vim *", "vim +x"),
    ("python *", "python -c x"),
    ("python3 *", "python3 -c x"),
    ("python3.12 *", "python3.12 -Sc x"),
    ("/usr/bin/python3 *", "/usr/bin/python3 -m timeit x"),
    ("node *", "node -e x"),
    ("node *", "node --eval=x"),
    ("perl *", "perl -e x"),
    ("perl *", "perl -ne x"),
    ("ruby *", "ruby -e x"),
    ("php *", "php -r x"),
    ("go *", "go test -exec=sh ./x"),
    ("go *", "go test --exec sh ./x"),
    ("go *", "go build -toolexec sh"),
    ("docker *", "docker run x"),
    ("docker *", "docker exec x y"),
    ("docker *", "docker --log-level debug run x"),
    ("kubectl *", "kubectl exec x -- y"),
    ("rsync *", "rsync -e sh a b:c"),
    ("rsync *", "rsync -ave sh a b:c"),
    ("gcc *", "gcc -wrapper sh x.c"),
    ("gdb *", "gdb -ex x"),
    ("tcpdump *", "tcpdump -z sh"),
    ("printf *", "printf -v 'a[$(id)]' x"),
    ("test *", "test -v 'a[$(id)]'"),
    ("read *", "read 'a[$(id)]'"),
    ("let *", "let 'a[$(id)]'"),
    ("compgen *", "compgen -W '$(id)'"),
    ("mapfile *", "mapfile -C id -c 1"),
];

/// Patterns with an ordinary command of the same programs, or that write the option out.
const ALLOWED: &[(&str, &str)] = &[
    ("find *", "find . -name '*.rs' -type f"),
    ("find . -exec *", "find . -exec rm x +"),
    ("tar *", "tar -tzf a.tar.gz"),
    ("tar *", "tar xzf a.tar.gz -C Inputs"),
    ("rg *", "rg -n --glob '!target' 'fn main'"),
    ("sed *", "sed -n 1,5p Cargo.toml"),
    ("sed *", "sed 's/a/b/g' x"),
    ("sed *", "sed -E -e 's|a/(b)|\\1|' Cargo.toml"),
    ("sed -i *", "sed -i s/a/b/ x"),
    ("awk *", "awk '{ print $1 }' x"),
    ("curl *", "curl -sSf http://localhost/x"),
    ("curl -o *", "curl -o x http://a"),
    ("npm *", "npm run build"),
    ("npm *", "npm test -- -u"),
    ("npm config *", "npm config get registry"),
    ("cargo *", "cargo test -p core --lib"),
    ("make *", "make -j4 test"),
    ("sort *", "sort -u -k1,1 x"),
    ("python *", "python script.py"),
    ("python -m pytest *", "python -m pytest -q tests"),
    ("node *", "node build.js"),
    ("go *", "go test ./x -run TestA"),
    ("docker *", "docker ps -a"),
    ("docker compose up *", "docker compose up -d"),
    ("git -C * status", "git -C sub status"),
    ("git -C * *", "git -C sub log"),
    ("git config *", "git config user.name"),
    ("git log --output=*", "git log --output=x"),
    ("git archive -o *", "git archive -o x.tar HEAD"),
];

#[test]
fn options_that_execute_programs_are_rejected() {
    for (pattern, command) in REJECTED {
        assert!(!allows(pattern, command), "{pattern:?} allows {command:?}");
    }
}

#[test]
fn ordinary_options_and_those_of_the_pattern_are_allowed() {
    for (pattern, command) in ALLOWED {
        assert!(
            allows(pattern, command),
            "{pattern:?} {command:?}: {:?}",
            super::compare(pattern, command)
        );
    }
}

#[test]
fn an_abbreviation_in_the_pattern_does_not_allow_the_option() {
    assert!(!allows("git log --o*", "git log --output=x"));
    assert!(!allows("git log -*", "git log --output=x"));
    assert!(!allows("git -C * *", "git -C sub -c a=b log"));
    assert!(!allows("git -C * *", "git -C sub config a b"));
    assert!(!allows("env git *", "env git log --output=x"));
}

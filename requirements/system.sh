# Installs the system packages that genbench uses, or names them in one line where that is not allowed.
# With the argument `dev` also the browser, the database server and the compilers that its tests use.
needed=""
command -v bwrap >/dev/null 2>&1 || needed="$needed bubblewrap"
tested=""
if [ "$1" = dev ]; then
    command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1 || tested=" chromium chromium-driver"
    command -v postgres >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || tested="$tested postgresql"
    while read -r file package; do
        [ -e "$file" ] || tested="$tested $package"
    done <<END
/usr/bin/g++ g++
/usr/bin/javac default-jdk-headless
/usr/share/java/javatuples.jar libjavatuples-java
/usr/bin/node nodejs
/usr/bin/tsc node-typescript
/usr/bin/go golang-go
/usr/bin/rustc rustc
/usr/bin/php php-cli
/usr/bin/ruby ruby
/usr/bin/newuidmap uidmap
END
fi
[ -z "$needed$tested" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get install -y -q $needed $tested || { apt-get update -q && apt-get install -y -q $needed $tested; }; } >/dev/null 2>&1 && exit 0
fi
[ -z "$needed" ] || echo "genbench: code tasks run in a sandbox that needs:$needed (Debian, Ubuntu: sudo apt install$needed); the rest works without"
[ -z "$tested" ] || echo "genbench: its tests need:$tested (Debian: sudo apt install$tested)"
exit 0

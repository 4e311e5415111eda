# Installs the system packages that genbench uses, or names them in one line where that is not allowed.
# With the argument `dev` also the browser that its tests open the report in.
needed=""
command -v bwrap >/dev/null 2>&1 || needed="$needed bubblewrap"
browser=""
if [ "$1" = dev ]; then
    command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1 || browser=" chromium chromium-driver"
fi
[ -z "$needed$browser" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get install -y -q $needed $browser || { apt-get update -q && apt-get install -y -q $needed $browser; }; } >/dev/null 2>&1 && exit 0
fi
[ -z "$needed" ] || echo "genbench: code tasks run in a sandbox that needs:$needed (Debian, Ubuntu: sudo apt install$needed); the rest works without"
[ -z "$browser" ] || echo "genbench: the tests of the report need:$browser (Debian: sudo apt install$browser)"
exit 0

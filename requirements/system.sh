# Installs the system packages that genbench uses, or names them in one line where that is not allowed.
needed=""
command -v bwrap >/dev/null 2>&1 || needed="$needed bubblewrap"
[ -z "$needed" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get install -y -q $needed || { apt-get update -q && apt-get install -y -q $needed; }; } >/dev/null 2>&1 && exit 0
fi
echo "genbench: code tasks run in a sandbox that needs:$needed (Debian, Ubuntu: sudo apt install$needed); the rest works without"
exit 0

# The file `attack` has the names of the attacks, then secret, marker, port, pid, mark, processes, MiB.
exec 8>&2
mapfile -t order < attack
secret=${order[1]} marker=${order[2]} port=${order[3]} pid=${order[4]} mark=${order[5]}
processes=${order[6]} mib=${order[7]}
places=("/tmp/$mark" "/dev/shm/$mark" "./$mark")

bytes() { yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | head -c "$1"; }

attack() {
    case $1 in
        read) read -r -n 1 _ < "$secret" ;;
        write) echo x > "$marker" ;;
        link_read) ln -s "$secret" link_read && read -r -n 1 _ < link_read ;;
        link_write) ln -s "$marker" link_write && echo x > link_write ;;
        network) exec 9<> "/dev/tcp/127.0.0.1/$port" ;;
        signal) kill -0 "$pid" ;;
        environment) [[ -n ${GENBENCH_BAIT+x} ]] ;;
        proc) read -r -n 1 _ < "/proc/$pid/cmdline" ;;
        descriptors) for ((i = 0; i < 2000; i++)); do exec {file}< /dev/null || return 1; done ;;
        leave) for place in "${places[@]}"; do echo x > "$place"; done; [[ -e ./$mark ]] ;;
        left) [[ -e ${places[0]} || -e ${places[1]} || -e ${places[2]} ]] ;;
        time) trap '' {1..31}; sleep 3 ;;
        memory) exec 2>&8; text=$(bytes $((mib << 20))); [[ -n $text ]] ;;
        shared_out_memory)
            for child in 1 2 3 4; do
                (text=$(bytes $((mib << 18))); sleep 1; [[ -n $text ]]) &
            done
            wait ;;
        disk)
            for ((i = 0; i < 6; i++)); do
                bytes 15M > "file$i" || return 1
                sleep 0.1
            done ;;
        file) bytes 20M > large ;;
        output) bytes 20M ;;
        errors) bytes 20M >&8 ;;
        processes) for ((i = 0; i < processes; i++)); do sleep 30 & done ;;
        background) sleep "$mark" & ;;
    esac
}

for name in ${order[0]}; do
    if attack "$name" 2> /dev/null; then printf '\n%s REACHED\n' "$name"; else printf '\n%s held\n' "$name"; fi
done
echo done

#!/bin/sh
# Keeps the zones of NSD equal to the members of a catalog zone. NSD reads catalog zones on its own from version 4.9 on; earlier ones need this script, every
# few seconds: nsd-catalog.sh CATALOG PRIMARY [PORT] [NSD.CONF]. New zones get the pattern "zonewright" of nsd.conf.
set -eu
catalog=$1 primary=$2 port=${3:-53} conf=${4:-/etc/nsd/nsd.conf}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
dig +noall +answer +onesoa -p "$port" "@$primary" "$catalog" AXFR >"$folder/catalog"
# A failed transfer must not remove all zones.
grep -q '[[:space:]]SOA[[:space:]]' "$folder/catalog"
awk '$4 == "PTR" { sub(/\.$/, "", $5); print $5 }' "$folder/catalog" | LC_ALL=C sort >"$folder/members"
nsd-control -c "$conf" zonestatus | awk '$1 == "zone:" { print $2 }' | LC_ALL=C sort >"$folder/zones"
LC_ALL=C comm -23 "$folder/members" "$folder/zones" | sed 's/$/ zonewright/' | nsd-control -c "$conf" addzones
LC_ALL=C comm -13 "$folder/members" "$folder/zones" | nsd-control -c "$conf" delzones

/** Records of example.com of every type that DNSControl 4 and 5 both support, with values that are hard to write. */
export const SUPPORTED = `
@ NS ns1.example.net.
@ NS ns2
@ A 192.0.2.1
@ MX 10 mail
@ MX 0 .
@ TXT "v=spf1 -all"
@ TXT "it's \\"quoted\\" and ; \\195\\169 \\240\\159\\152\\128 \\009\\010\\226\\128\\168"
@ TXT "${'x'.repeat(255)}" "${'y'.repeat(60)}"
@ CAA 0 issue "letsencrypt.org; a=b"
@ CAA 128 iodef "mailto:x@example.com"
@ CAA 0 iodef "\\"a\\" \\\\ \\195\\169\\255"
www 60 CNAME @
sub NS ns.sub
sub DS 1 13 2 ${'ab'.repeat(32)}
sub DNSKEY 257 3 13 aabbccdd
d DNAME example.net.
_sip._tcp SRV 1 2 3 sip
s SSHFP 4 2 ${'ab'.repeat(32)}
_443._tcp TLSA 3 1 1 ${'ab'.repeat(32)}
x._smimecert SMIMEA 3 1 1 ${'ab'.repeat(32)}
y SMIMEA 3 1 1 ${'ab'.repeat(32)}
nap NAPTR 100 10 "U" "E2U+sip" "!^(.*)$!\\\\\\\\1!" .
nap NAPTR 100 20 "U" "E2U+sip" "!\\"(.*)\\255!\\\\1!" .
loc LOC 52 14 5.01 N 0 8 50 W -10.33m 0.00m 100m 10m
loc LOC 0 0 59.99 S 180 0 0 E 24.29m 1m 90000000m 0.01m
loc LOC 90 0 0 N 0 0 0 W -100000m 1m 1m 1m
h HTTPS 1 . alpn="h2,h3" port=443
h HTTPS 2 . alpn=h2 ipv4hint=192.0.2.1 ech=AEX+DQBB dohpath=/q{?dns} key667=x
h HTTPS 3 . ohttp
h HTTPS 4 . key668
v SVCB 0 svc.example.net.
o OPENPGPKEY AAAABBBB
o OPENPGPKEY mDMEAAAAARYJKwYB
dh DHCID AAAABBBB
rp RP a.example.net. .
6 AAAA 2001:db8::1
p PTR host.example.net.
q CNAME 1.0/25.2.0.192.in-addr.arpa.
*.w A 192.0.2.1
example.com A 192.0.2.2
xn--bcher-kva A 192.0.2.3
`

/** The style sheet of the page. Widths of columns are in characters and shared by all zones, so that columns are aligned across them. */
export interface ColumnWidths {
  readonly name: number
  readonly ttl: number
  readonly type: number
  readonly target: number
}

export const pageStyle = ({ name, ttl, type, target }: ColumnWidths): string => `
:root{color-scheme:light dark;--name:${name}ch;--ttl:${ttl}ch;--type:${type}ch;--target:${(target * 0.5).toFixed(2)}rem}${STYLE}`

const STYLE = `
:root{--bg:#fcfcfb;--panel:#fff;--fg:#1d2126;--dim:#5b6470;--line:#e2e4e7;--hover:#f3f4f3;--added:#116335;--removed:#a3271b;--changed:#744b00;--addedbg:#ddf2e3;--removedbg:#fce4e1;--changedbg:#fbf0d6;--accent:#1f56a8}
@media(prefers-color-scheme:dark){:root{--bg:#15171a;--panel:#1a1d21;--fg:#dde1e6;--dim:#97a1ad;--line:#2c3138;--hover:#20242a;--added:#74d19b;--removed:#ff9489;--changed:#e3b65c;--addedbg:#17351f;--removedbg:#431f1d;--changedbg:#392c10;--accent:#8bb5f7}}
@media print{:root{color-scheme:light;--bg:#fff;--panel:#fff;--fg:#000;--dim:#444;--line:#bbb;--hover:#fff;--added:#0b4d28;--removed:#8c1f14;--changed:#5c3b00;--addedbg:#e4f3e8;--removedbg:#fbe6e3;--changedbg:#faf0da;--accent:#000}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:8.5rem}
body{margin:0 auto;max-width:84rem;padding:1.5rem 1.5rem 4rem;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
code,pre,table,.zone,.mono{font-family:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:12.5px}
h1{font-size:1.35rem;line-height:1.3;font-weight:600;letter-spacing:-.01em;margin:.15rem 0 1rem;text-wrap:balance;max-width:60rem}
h2{font-size:.95rem;font-weight:600;margin:0;padding:1.1rem 0 .3rem;border-bottom:1px solid var(--line)}
h2 small{font-size:.85rem;font-weight:400;color:var(--dim);margin-left:.5rem}
p{margin:0}.dim,.made{color:var(--dim)}a{color:var(--accent)}.made{font-size:.85rem}
.figures{display:flex;flex-wrap:wrap;gap:.25rem 2.25rem;margin:0 0 1.25rem;padding:0;list-style:none}
.figures b{display:block;font-size:1.35rem;line-height:1.2;font-weight:600}.figures span{color:var(--dim);font-size:.85rem}
.create b,.n .m{color:var(--added)}.update b{color:var(--changed)}.delete b,.o .m,.bad b{color:var(--removed)}
.figures button{all:unset;cursor:pointer}.figures button:hover span,.figures button[aria-pressed=true] span{text-decoration:underline;text-underline-offset:3px}.figures button:focus-visible{outline:2px solid var(--accent);outline-offset:3px}
.zero b{color:var(--dim);font-weight:400}
.lead{margin:0 0 1rem;padding:.6rem .9rem;list-style:none;max-width:76rem;border:1px solid var(--line);border-left:4px solid var(--changed)}.lead li{overflow-wrap:anywhere;padding:.1rem 0}
.messages{margin:0 0 1rem;padding:0;list-style:none;max-width:76rem}
.messages li{padding:.3rem .75rem;margin:.25rem 0;border-left:3px solid var(--line);background:var(--hover);overflow-wrap:anywhere;white-space:pre-wrap}
.messages .error{border-color:var(--removed)}.messages .warning{border-color:var(--changed)}
.messages b{font-weight:600}.error b{color:var(--removed)}.warning b{color:var(--changed)}
.top{position:sticky;top:0;z-index:2;background:var(--bg);border-bottom:1px solid var(--line)}
.filter{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:end;padding:.6rem 0 .4rem}
.filter[hidden]{display:none}
.filter label{flex:1 1 8rem;font-size:.75rem;color:var(--dim)}.filter label:first-child{flex-grow:2}
.filter input,.filter select{display:block;width:100%;height:2rem;margin-top:.1rem;padding:0 .45rem;font:inherit;font-size:.875rem;color:var(--fg);background:var(--panel);border:1px solid var(--line);border-radius:4px}
.filter button{white-space:nowrap;font:inherit;font-size:.85rem;height:2rem;padding:0 .6rem;color:var(--fg);background:var(--panel);border:1px solid var(--line);border-radius:4px;cursor:pointer}
.filter div{display:flex;gap:.4rem}.filter output{flex-basis:100%;color:var(--dim);font-size:.85rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
kbd{font:inherit;font-size:.8rem;border:1px solid var(--line);border-radius:3px;padding:0 .3em}
.head,summary{display:grid;grid-template-columns:.9rem minmax(0,1fr) minmax(0,var(--target)) 6.5rem 4rem 4rem 4rem;column-gap:.75rem;align-items:baseline;padding:.22rem .4rem}
.head{color:var(--dim);font-size:.75rem}
.head>:nth-child(n+5),summary>.count{text-align:right}
details{border-bottom:1px solid var(--line)}details[open]{padding-bottom:.75rem}
details[hidden],section[hidden],tr[hidden],.plain[hidden]{display:none}
summary{cursor:pointer;list-style:none}summary::-webkit-details-marker{display:none}
summary:hover{background:var(--hover)}
summary>i{width:0;height:0;align-self:center;border:4px solid transparent;border-left:5px solid var(--dim);border-right:0;margin-left:.2rem}
details[open]>summary>i{transform:rotate(90deg)}
.zone{font-weight:600;overflow-wrap:anywhere}.zone span{font-weight:400;color:var(--dim)}
.target{color:var(--dim);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.count{color:var(--dim)}.count.create{color:var(--added)}.count.update{color:var(--changed)}.count.delete{color:var(--removed)}
.label{display:inline-block;font:600 .7rem/1.5 system-ui,sans-serif;padding:0 .4em;margin-left:.5em;border:1px solid currentColor;border-radius:3px;white-space:nowrap;color:var(--dim)}
.label.error{color:var(--removed)}.label.warning{color:var(--changed)}
svg{width:100%;height:10px;align-self:center}svg path{stroke:var(--dim);vector-effect:non-scaling-stroke}
svg .create{fill:var(--added)}svg .update{fill:var(--changed)}svg .delete{fill:none;stroke:var(--removed);stroke-width:1.2;vector-effect:non-scaling-stroke}
.body{padding:.1rem .4rem 0 2.05rem;content-visibility:auto;contain-intrinsic-size:auto 40rem}.measured .body{content-visibility:visible}.facts{color:var(--dim);font-size:.85rem;margin:.1rem 0 .4rem}
pre{margin:.25rem 0;overflow-x:auto;tab-size:20}
table{width:100%;table-layout:fixed;border-collapse:collapse}
th{text-align:left;font-weight:400;color:var(--dim);padding:.1rem .75rem .1rem 0;border-bottom:1px solid var(--line)}
td{padding:.08rem .75rem .08rem 0;vertical-align:top;overflow-wrap:anywhere}
th:nth-child(1){width:1.6rem}th:nth-child(2){width:calc(var(--name) + .75rem)}th:nth-child(3){width:calc(var(--ttl) + .75rem)}th:nth-child(4){width:calc(var(--type) + .75rem)}
th:nth-child(3),td:nth-child(3){text-align:right}
.m{font-weight:600;user-select:none}tr.first td{border-top:1px solid var(--line)}tbody tr.first:first-child td{border-top:0}
td b{font-weight:600;border-radius:2px}.o b{color:var(--removed);background:var(--removedbg);text-decoration:line-through}.n b{color:var(--added);background:var(--addedbg);text-decoration:underline;text-underline-offset:2px}
.note{display:block;color:var(--dim);font-size:.9em}.note.error{color:var(--removed);font-weight:600}.left td{color:var(--dim)}
.plain{margin-top:1.5rem;border:1px solid var(--line);border-width:1px 0}.plain summary{grid-template-columns:.9rem minmax(0,1fr)}
.names{columns:22rem;column-gap:2rem;margin:.25rem 0 .5rem 2rem;padding:0;list-style:none}.names li{overflow-wrap:anywhere;break-inside:avoid}
footer{margin-top:2rem;color:var(--dim);font-size:.85rem}
@media screen and (max-width:720px){
body{padding:1rem .8rem 3rem}html{scroll-padding-top:1rem}h1{font-size:1.15rem}.figures{gap:.4rem 1.4rem}.figures b{font-size:1.15rem}
.top{position:static}.filter label:first-child,.filter div{flex-basis:100%}
.filter input,.filter select{font-size:16px}.filter input,.filter select,.filter button{height:2.4rem}
.keys,.head{display:none}summary{grid-template-columns:.7rem minmax(0,1fr) 4.5rem 3rem 3rem 3rem;column-gap:.6rem;row-gap:.1rem;padding:.4rem .1rem}
summary>i{grid-area:1/1}summary>.zone{grid-area:1/2/auto/-1}summary>.target{grid-area:2/2}summary>svg{grid-area:2/3}summary>.count{grid-area:2/4}summary>.count+.count{grid-area:2/5}summary>.count+.count+.count{grid-area:2/6}
.body{padding:0 .1rem}table,tbody{display:block}thead{display:none}
tr{display:grid;grid-template-columns:1.1rem minmax(0,1fr) var(--ttl) var(--type);column-gap:.6rem}tr[hidden]{display:none}tr.first{border-top:1px solid var(--line)}tr.first td{border:0}
td{padding:.05rem 0}td:nth-child(2){grid-column:2;font-weight:600}td:nth-child(3),td:nth-child(4){grid-column:3;color:var(--dim)}td:nth-child(4){grid-column:4}td:nth-child(5){grid-column:2/-1}td.same{display:none}
.names{margin-left:1rem}}
@media print{
body{max-width:none;padding:0;font-size:9pt}.top{position:static}code,pre,table,.zone,.mono{font-size:8pt}.filter,.filter[hidden],.keys{display:none!important}summary>i{visibility:hidden}
details::details-content,.body{content-visibility:visible;block-size:auto}details{break-inside:auto}summary,h2,.head{break-after:avoid}tr,.messages li{break-inside:avoid}
.body{padding-left:1.3rem}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
@media(forced-colors:active){svg .create,svg .update{fill:CanvasText}svg .delete{stroke:CanvasText}}
`

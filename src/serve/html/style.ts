import { COLOURS } from '../../report/render/colours.ts';

/**
 * The look of a page. What a colour says, a word and a mark say too. Nothing moves; the only animation shows,
 * after a minute without news, that the page is old: it works without a script.
 */
export const STYLE = `${COLOURS}:root { --warn: #7a5200; }
@media (prefers-color-scheme: dark) { :root { --warn: #e0be68; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem clamp(.75rem, 3vw, 2.5rem) 3rem; max-width: 80rem;
  background: var(--page); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { margin: .2rem 0 .6rem; font-size: 1.15rem; font-weight: 600; color: var(--mute); }
h2 { margin: 1.8rem 0 .5rem; padding-bottom: .2rem; font-size: 1.15rem; border-bottom: 1px solid var(--line); }
a { color: var(--link); }
p { margin: .4rem 0; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; background: var(--page); }
.kind { margin: 0; color: var(--mute); font-size: .8rem; letter-spacing: .08em; text-transform: uppercase; }
#headline { margin: .4rem 0; padding: .7rem .9rem; border: 1px solid var(--line); border-left: 6px solid var(--mute);
  border-radius: 6px; background: var(--soft); font-size: 1.2rem; font-weight: 600; line-height: 1.4; }
#headline.good { border-left-color: var(--good); } #headline.warn { border-left-color: var(--warn); }
#headline.bad { border-left-color: var(--bad); }
.good b { color: var(--good); } .warn b { color: var(--warn); } .bad b { color: var(--bad); }
.dim { color: var(--mute); }
.asof { color: var(--mute); font-size: .88rem; }
.stale { height: 0; margin: 0; overflow: hidden; visibility: hidden; border-radius: 6px; font-weight: 700;
  background: var(--alarm); color: var(--on-alarm); animation: old 0s linear 60s forwards; }
.fresh .stale { animation: none; }
.old .stale { height: auto; margin: .4rem 0; padding: .5rem .9rem; visibility: visible; animation: none; }
@keyframes old { to { height: auto; margin: .4rem 0; padding: .5rem .9rem; visibility: visible; } }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: .6rem 0; padding: 0; list-style: none; }
.clocks { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .75rem; margin: .8rem 0; }
.clocks > div { padding: .6rem .9rem; border: 1px solid var(--line); border-radius: 6px; background: var(--soft); }
.clocks dt { color: var(--mute); font-size: .82rem; } .clocks dd { margin: 0; font-weight: 600; }
.wide { overflow-x: auto; } .wide:focus-visible, a:focus-visible, summary:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { padding: .2rem 0 .3rem; color: var(--mute); font-size: .84rem; text-align: left; }
th, td { padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--mute); border-bottom-width: 2px; } tbody th { font-weight: 600; }
.row { white-space: nowrap; } td > i { display: none; }
.lanes { margin: .3rem 0; font: 1rem/1.35 ui-monospace, Menlo, Consolas, monospace; letter-spacing: .1em; }
pre { padding: .7rem .9rem; border: 1px solid var(--line); border-radius: 6px; background: var(--soft);
  font: .86rem/1.5 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; user-select: all; }
summary { cursor: pointer; font-weight: 600; }
ul.plain { margin: .4rem 0; padding-left: 1.2rem; }
footer { margin-top: 2rem; padding-top: .5rem; border-top: 1px solid var(--line); color: var(--mute); font-size: .85rem; }
@media (max-width: 46rem) {
  #headline { font-size: 1.05rem; }
  table.many thead { position: absolute; left: -99rem; }
  table.many tr { display: block; padding: .3rem 0; border-bottom: 2px solid var(--line); }
  table.many th, table.many td { display: block; padding: 0; border: 0; }
  table.many td > i { display: inline; color: var(--mute); font-style: normal; }
  .row { white-space: normal; } }
@media print {
  :root { --page: #fff; --soft: #fff; --line: #999; --ink: #000; --mute: #444; --link: #000; --good: #000;
    --bad: #000; --warn: #000; }
  body { padding: 0; max-width: none; font-size: 10pt; }
  nav, .skip, .stale { display: none; } h2, tr, pre { break-inside: avoid; } h2 { break-after: avoid; }
  thead { display: table-header-group; } .wide { overflow: visible; } a { text-decoration: none; } }
`.replaceAll(/\n\s*/gu, ' ');

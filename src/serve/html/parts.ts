import { formatSpan, formatTime } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import type { InstanceVerdict } from '../../plans/evaluation-schema.ts';
import { type Markup, markup, NOTHING, readableText } from '../../report/render/markup.ts';
import { VERDICT_WORDS } from '../../view/app/status-cells.ts';
import { briefly } from '../../view/follow-up-words.ts';
import { followUpWords } from '../models/headline.ts';
import type { PlanLane, RunRow, Shared, Tone, VerdictRow } from '../page.ts';

/** A part of a page with a heading, which is replaced as a whole when it changes. */
export function section(id: string, title: string, content: Markup | readonly Markup[]): Markup {
  return markup`<section data-part="${id}" aria-labelledby="h-${id}"><h2 id="h-${id}">${title}</h2>\n${content}</section>\n`;
}

/** The most rows that a table of a page has by default: a page stays below 30 KiB, whatever there is. */
const MOST_ROWS = 20;

/**
 * Scrolls sideways with the keyboard too; the first cell of a row is its heading. Rows beyond `most` are
 * counted: the JSON twin has all. On a narrow screen the cells of more than two columns are stacked.
 */
export function table(
  id: string,
  caption: string,
  head: readonly string[],
  all: readonly (readonly Markup[])[],
  most = MOST_ROWS,
): Markup {
  const rows = all.slice(0, most);
  const titles = head.map((text) => markup`<th scope="col">${text}</th>`);
  const isMany = head.length > 2;
  const body = rows.map(([first = NOTHING, ...cells]) => {
    const rest = cells.map((cell, at) => {
      const title = isMany && String(cell) !== '' ? markup`<i>${head[at + 1] ?? ''}: </i>` : NOTHING;
      return markup`<td>${title}${cell}</td>`;
    });
    return markup`<tr><th scope="row">${first}</th>${rest}</tr>\n`;
  });
  const open = isMany ? markup`<table class="many">` : markup`<table>`;
  return markup`<div class="wide" id="t-${id}" role="region" tabindex="0" aria-label="${caption}">${open}<caption>${caption}</caption><thead><tr>${titles}</tr></thead><tbody>\n${body}</tbody></table></div>\n${moreThan(all.length - rows.length)}`;
}

/** `and 12 more`, where there are. */
function moreThan(count: number): Markup {
  return count <= 0 ? NOTHING : markup`<p>and ${count} more</p>\n`;
}

/** A text for people, with its times in the usual form. */
export function words(text: string): Markup {
  return markup`${readableText(text)}`;
}

export function marked(mark: string, word: string, tone: Tone): Markup {
  return markup`<span class="${tone} row"><span aria-hidden="true">${mark}</span> <b>${word}</b></span>`;
}

export function when(at: string | undefined, now: string): Markup {
  if (at === undefined) return markup`never`;
  const seconds = (msOf(now) - msOf(at)) / 1000;
  const past = seconds < 0 ? `in ${briefly(-seconds)}` : `${briefly(seconds)} ago`;
  return markup`<time datetime="${at}" class="row">${formatTime(at)} UTC</time> (${past})`;
}

function runLink(runId: string): Markup {
  return markup`<a href="/runs/${encodeURIComponent(runId)}">${runId}</a>`;
}

const MOST_ASKS = 8;
const MOST_ITEMS = 10;

/** What waits for a person; nothing where nobody is asked. */
export function asksPart({ asks }: Pick<Shared, 'asks'>): Markup {
  if (asks.length === 0)
    return section('asks', 'Waits for a person', markup`<p>Nothing waits for a person.</p>`);
  const rows = asks.map(({ prompt, whom, count, runId }) => [
    markup`${whom}`,
    markup`${words(prompt)}${count > 1 ? ` (${count} ask this)` : ''}`,
    runId === undefined ? NOTHING : runLink(runId),
  ]);
  return section(
    'asks',
    'Waits for a person',
    table('asks', 'Questions', ['whom', 'what', 'run'], rows, MOST_ASKS),
  );
}

export function followUpsPart({ followUps, more }: Pick<Shared, 'followUps' | 'more'>): Markup {
  const total = followUps.length + more.followUps;
  const items = followUps.slice(0, MOST_ITEMS).map((one) => {
    const run = one.runId === undefined ? NOTHING : markup`, ${runLink(one.runId)}`;
    return markup`<li>${words(followUpWords(one))}: ${one.instance}${run}</li>\n`;
  });
  const rest = moreThan(total - items.length);
  const list = total === 0 ? markup`<p>None is open.</p>` : markup`<ul class="plain">${items}</ul>${rest}`;
  return section('followups', `Open follow-ups: ${total}`, list);
}

export function changesPart({ changes, more }: Pick<Shared, 'changes' | 'more'>): Markup {
  const items = changes.slice(0, MOST_ITEMS).map(({ at, about, runId, text, tone }) => {
    const of = runId === undefined ? markup`${about}` : runLink(runId);
    return markup`<li class="${tone}"><time datetime="${at}">${formatTime(at).slice(11)}</time> ${of}: ${words(text)}</li>\n`;
  });
  const rest = moreThan(changes.length + more.changes - items.length);
  const list =
    changes.length === 0 ? markup`<p>Nothing changed.</p>` : markup`<ul class="plain">${items}</ul>${rest}`;
  return section('changes', 'The last ten minutes (UTC)', list);
}

export function pastePart(text: string): Markup {
  return section(
    'paste',
    'To paste',
    markup`<details id="paste"><summary>Plain text for a channel or a ticket</summary><pre id="pasted" tabindex="0" aria-label="Plain text">${text
      .split('\n')
      .map((line) => markup`${line}\n`)}</pre></details>`,
  );
}

/** Runs with their state; `ended` ones say how they came out. */
export function runsTable(
  id: string,
  caption: string,
  runs: readonly RunRow[],
  { now, most }: { readonly now: string; readonly most: number },
): Markup {
  const rows = runs.map((run) => [
    markup`${runLink(run.runId)}`,
    markup`<span class="row">${run.mode}</span>`,
    markup`${run.runbook} of ${run.instance}${run.target === undefined ? '' : ` into ${run.target}`}`,
    run.status === 'open' ? marked('▶', 'open', 'plain') : marked(...resultOf(run)),
    markup`${words(run.where)}${run.driver === undefined ? '' : `; ${run.driver}`}`,
    when(run.status === 'open' ? run.startedAt : run.lastAt, now),
  ]);
  return table(id, caption, ['run', 'mode', 'what', 'state', 'where', 'since'], rows, most);
}

function resultOf({ result = 'stopped' }: RunRow): readonly [mark: string, word: string, tone: Tone] {
  if (result === 'proven') return ['✓', 'proven', 'good'];
  if (result === 'done') return ['✓', 'done', 'plain'];
  return ['✗', result, 'warn'];
}

interface Evaluated {
  readonly verdicts: readonly VerdictRow[];
  readonly unevaluated: readonly string[];
}

/** The evaluations on record, worst first. */
export function verdictsTable(
  { verdicts, unevaluated }: Evaluated,
  { now, most }: { readonly now: string; readonly most: number },
): Markup {
  const rows = verdicts.map(({ subject, verdict, reason, since, askedAt }) => [
    markup`${subject}`,
    verdictMark(verdict),
    words(reason),
    when(since, now),
    when(askedAt, now),
  ]);
  const never = unevaluated.map((name) => [
    markup`${name}`,
    marked('?', 'never evaluated', 'warn'),
    NOTHING,
    NOTHING,
    NOTHING,
  ]);
  const head = ['subject', 'verdict', 'reason', 'so since', 'evaluated from here'];
  return table('verdicts', 'Evaluations on record', head, [...rows, ...never], most);
}

function verdictMark(verdict: InstanceVerdict): Markup {
  const [mark, tone] = VERDICTS[verdict];
  return marked(mark, VERDICT_WORDS[verdict], tone);
}

const VERDICTS: Readonly<Record<InstanceVerdict, readonly [mark: string, tone: Tone]>> = {
  proven: ['✓', 'good'],
  ready: ['●', 'good'],
  'not-ready': ['✗', 'bad'],
  unknown: ['?', 'warn'],
  empty: ['–', 'dim'],
};

/** The mark of a lane: each state has a shape of its own. */
export const LANE_MARKS: Readonly<Record<PlanLane['is'], string>> = {
  done: '✓',
  'at-work': '▶',
  waiting: '◆',
  answered: '◇',
  failing: '!',
  failed: '✗',
  later: '·',
  'not-run': '·',
  ready: '○',
  stopped: '○',
  out: '–',
  left: '◈',
};

export function laneRow(
  { name, target, is, state, tone, words: doing, step, runId, since }: PlanLane,
  now: string,
) {
  return [
    markup`${name}${target === undefined ? '' : ` into ${target}`}`,
    marked(LANE_MARKS[is], state, tone),
    markup`${step ?? ''}`,
    markup`${words(doing)}${runId === undefined ? NOTHING : markup` ${runLink(runId)}`}`,
    since === undefined ? NOTHING : markup`${ageOf(since, now)}`,
  ];
}

export const LANE_HEAD = ['instance', 'state', 'step', 'what', 'since'];

function ageOf(since: string, now: string): string {
  return formatSpan(Math.max(0, (msOf(now) - msOf(since)) / 1000));
}

export function clocksPart({
  objectives,
  forecast,
}: {
  readonly objectives: readonly {
    readonly words: string;
    readonly name: string;
    readonly running: boolean;
    readonly tone: Tone;
  }[];
  readonly forecast?: string | undefined;
}): Markup {
  if (objectives.length === 0 && forecast === undefined) return NOTHING;
  const clocks = objectives.map(
    ({ words: of, name, running, tone }) =>
      markup`<div class="${tone}"><dt>${NAMES[name] ?? name}, ${running ? 'running' : 'stopped'}</dt><dd><b>${of}</b></dd></div>`,
  );
  const when =
    forecast === undefined ? NOTHING : markup`<div><dt>Forecast</dt><dd>${words(forecast)}</dd></div>`;
  return section('clocks', 'Time', markup`<dl class="clocks">${clocks}${when}</dl>`);
}

const NAMES: Readonly<Record<string, string>> = { RTO: 'Recovery time', RPO: 'Data loss' };

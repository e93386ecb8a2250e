import { formatElapsed } from '../../base/format.ts';
import type { Badge } from '../../view/app/sources.ts';
import { openWords } from '../../view/follow-up-words.ts';
import type { RunView } from '../../view/run-view.ts';
import { type Line, type Look, type Span, span } from '../span.ts';
import { tokenOf } from '../theme.ts';

/** What the header shows; a run that has not been read yet may lack its times. */
export type HeaderData = Pick<RunView, 'instance' | 'title'> &
  Partial<Pick<RunView, 'target' | 'runbook' | 'clock' | 'elapsed' | 'followUps' | 'chapter'>> & {
    readonly mode?: Badge;
  };

function badgeText({ mode, chapter }: HeaderData): string {
  if (chapter !== undefined && mode === 'REHEARSAL') return `DRILL ${chapter.number}/${chapter.of}`;
  return mode === 'MIXED' ? 'LIVE + REHEARSAL' : (mode ?? 'lifeboat');
}

/**
 * Mode, instance, runbook, clock. LIVE has a loud double rule, here and in the footer: never mistaken for a
 * rehearsal. A narrow screen drops date and running time first, then shows the runbook's id instead of the
 * title; the number of open follow-ups stays.
 * `measure` and `cut` come from the caller: the first frame is written before the width tables are loaded.
 */
export function headerLine(
  data: HeaderData,
  width: number,
  look: Look,
  measure: (text: string) => number,
  cut: (text: string, width: number) => string,
): Line {
  const rule = ruleOf(data.mode, look);
  const clock = data.clock === undefined ? '' : `${data.clock} UTC`;
  const time = data.clock === undefined ? '' : `${data.clock.slice(-8)} UTC`;
  const elapsed = data.elapsed === undefined ? '' : formatElapsed(data.elapsed);
  const badge = span(` ${badgeText(data)} `, isLive(data.mode) ? 'badge.live' : 'badge.rehearsal');
  const lead = measure(badge.text) + 6;
  const followUps = openWords(data.followUps ?? []);
  const named = subjectSpans(data);

  for (const [title, open, times] of [
    [data.title, followUps.long, [clock, elapsed]],
    [data.title, followUps.long, [time, elapsed]],
    [data.title, followUps.long, [time]],
    [data.title, followUps.short, [time]],
    [data.runbook ?? '', followUps.short, [time]],
    ['', followUps.short, [time]],
    ['', followUps.short, []],
  ] as const) {
    const titled = span(title);
    const timed = span(times.filter((text) => text !== '').join('  '), 'text.dim');
    const left = span(open, tokenOf(followUps.tone));
    const names = [title === '' ? '' : titled.text, open]
      .filter((text) => text !== '')
      .reduce(
        (sum, text) => sum + measure(text) + 2,
        named.reduce((sum, { text }) => sum + measure(text), 0),
      );
    const right = timed.text === '' ? 0 : measure(timed.text) + 4;
    const fill = width - lead - names - right;
    if (fill < 1) continue;
    return [
      { ...rule, text: rule.text.repeat(2) },
      badge,
      { ...rule, text: rule.text.repeat(2) },
      span(' '),
      ...named,
      ...(title === '' ? [] : [span('  '), titled]),
      ...(open === '' ? [] : [span('  '), left]),
      span(' '),
      { ...rule, text: rule.text.repeat(fill) },
      ...(timed.text === '' ? [] : [span(' '), timed, span(' '), { ...rule, text: rule.text.repeat(2) }]),
    ];
  }
  const left = span(followUps.short === '' ? '' : ` ${followUps.short}`, tokenOf(followUps.tone));
  // If there is room for only one name, show the instance that is changed.
  const name = span(` ${data.target ?? data.instance}`, 'text.strong');
  const room = Math.max(0, width - measure(badge.text) - measure(left.text));
  return [badge, { ...name, text: cut(name.text, room) }, ...(followUps.short === '' ? [] : [left])];
}

/** The subject of the screen; of two instances, the changed one is shown strong. */
function subjectSpans({ instance, target }: HeaderData): readonly Span[] {
  if (target !== undefined) return [span(`${instance} -> `), span(target, 'text.strong')];
  return [span(instance === '' ? 'lifeboat' : instance, 'text.strong')];
}

function isLive(mode: Badge | undefined): boolean {
  return mode === 'LIVE' || mode === 'MIXED';
}

/** The rule that frames the screen: loud and double when live. */
export function ruleOf(mode: Badge | undefined, look: Look): Span {
  return isLive(mode)
    ? { text: look.glyphs.loudRule, token: 'frame.live' }
    : { text: look.glyphs.rule, token: 'frame' };
}

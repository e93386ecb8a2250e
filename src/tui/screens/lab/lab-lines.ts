import { counted, formatTime } from '../../../base/format.ts';
import type { HomeLab } from '../../../view/app/home.ts';
import { type LabClock, type LabFacts, spanWords } from '../../../view/app/lab-facts.ts';
import { cutLine, padLine, wrapLine } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { type Line, type Look, span } from '../../span.ts';
import type { Token } from '../../theme.ts';

const LABEL = 10;
/** The most rows that one fact takes. */
const MAX_ROWS = 2;

/** That this is a lab and no service, what of the config it cannot touch, and why it does not answer. */
export function bannerLines(
  lab: HomeLab | undefined,
  { facts, now }: Around,
  width: number,
  look: Look,
): readonly Line[] {
  const { part, last } = facts.get('lab', null);
  const others = lab?.elsewhere ?? [];
  const about = [lab?.place, last?.value.about].filter((text) => text !== undefined && text !== '');
  const age = last === undefined ? undefined : Math.round((now.getTime() - last.at.getTime()) / 1000);
  return [
    ...labelled(
      [span('LAB', 'selected')],
      [
        span('a simulator on this machine: nothing on this screen reaches a service', 'text.strong'),
        span(about.length === 0 ? '' : ` (${about.join('; ')})`, 'text.dim'),
      ],
      width,
    ),
    ...(others.length === 0
      ? []
      : wrapLine(
          [
            span(`${look.glyphs.warn} not in this lab, and out of its reach: `, 'status.warn'),
            span(others.join(', ')),
          ],
          width,
          2,
        ).slice(0, MAX_ROWS)),
    ...(part.state === 'failed'
      ? wrapLine(
          [
            span(`${look.glyphs.failed} ${part.why}`, 'status.bad'),
            span(age === undefined ? '' : `; below is what it said ${spanWords(age)} ago`),
          ],
          width,
          2,
        ).slice(0, MAX_ROWS)
      : []),
  ];
}

/** Scenario, clock, settings and open faults, the faults in at most `mostFaults` rows. */
export function factLines(lab: LabFacts, width: number, mostFaults: number, look: Look): readonly Line[] {
  const { playing, scenarios, clock, routerSeconds, updateBlocking, faults } = lab;
  const summary = scenarios.find(({ name }) => name === playing)?.summary;
  const updates = `maintenance updates can${updateBlocking ? '' : 'not'} be forbidden`;
  const most = Math.max(1, mostFaults);
  const shown = faults.length <= most ? faults : faults.slice(0, most - 1);
  const rest = faults.length - shown.length;
  return [
    ...fact(
      'scenario',
      playing === undefined ? 'none has begun' : [playing, summary].filter(Boolean).join(': '),
      playing === undefined ? 'text.dim' : 'text',
      width,
    ),
    ...fact('clock', clockWords(clock), 'text', width),
    ...fact('router', `ends a request after ${spanWords(routerSeconds)}; ${updates}`, 'text', width),
    ...(faults.length === 0 ? fact('faults', 'none is open', 'text.dim', width) : []),
    ...[...shown, ...(rest === 0 ? [] : [`and ${counted(rest, 'more', 'more')}`])].map((text, at) =>
      cutLine([...padLine(label(at === 0 ? 'faults' : ''), LABEL), span(text, 'status.warn')], width, look),
    ),
  ];
}

/** The time of the service, and how it differs from the real one. */
export function clockWords({ now, rate, skewSeconds, aheadSeconds }: LabClock): string {
  return [
    `${formatTime(now)} UTC`,
    rate === 1 ? undefined : `${rate} times as fast as real time`,
    Math.round(aheadSeconds) > 0 ? `${spanWords(aheadSeconds)} ahead of real time` : undefined,
    skewSeconds === 0 ? undefined : `${spanWords(skewSeconds)} ${skewSeconds < 0 ? 'slow' : 'fast'}`,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function fact(name: string, text: string, token: Token, width: number): readonly Line[] {
  return labelled(label(name), [span(text, token)], width);
}

function labelled(head: Line, text: Line, width: number): readonly Line[] {
  return wrapLine(text, Math.max(1, width - LABEL))
    .slice(0, MAX_ROWS)
    .map((row, at) => [...padLine(at === 0 ? head : [], LABEL), ...row]);
}

function label(name: string): Line {
  return [span(name, 'text.dim')];
}

import type { Obligation } from '../../machines/parts/obligation.ts';
import { formatTime, readable } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { FactLine, ObligationView, Tone } from './run-view.ts';

/** Long enough for any command with its names and files, so that what is copied is whole. */
const COMMAND_LIMIT = 4_000;

type Settled = { readonly how: string; readonly text: string; readonly at?: string | undefined };

/** An obligation as it lies in a machine's context, a ledger or the end of a run. */
export type Owed = Pick<Obligation, 'id' | 'what' | 'subject'> & {
  readonly owner?: string | undefined;
  readonly since?: string | undefined;
  readonly dueSeconds?: number | undefined;
  readonly commands?: readonly string[] | undefined;
  readonly payable?: Obligation['payable'];
  readonly settled?: Settled | undefined;
};

/** How each way of settling is told. What was skipped is not done. */
const WAYS: Readonly<Record<string, { readonly word: string; readonly tone: Tone }>> = {
  platform: { word: 'by the platform', tone: 'good' },
  cf: { word: 'by cf', tone: 'good' },
  hand: { word: 'by hand', tone: 'good' },
  run: { word: 'by this run', tone: 'good' },
  skipped: { word: 'skipped', tone: 'warn' },
};

/** One obligation for people. Whoever runs the recovery sees to what names nobody else. */
export function viewObligation(owed: Owed, operator: string, now: Date): ObligationView {
  const { id, what, subject, owner, since, dueSeconds, commands, payable, settled } = owed;
  const until = settled?.at === undefined ? now.getTime() : Date.parse(settled.at);
  const seconds = (until - Date.parse(since ?? '')) / 1000;
  const age = Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
  const isRunning = age !== undefined && dueSeconds !== undefined && settled === undefined;
  return {
    id: show(id, 120),
    what: readable(what),
    subject: show(subject, 120),
    owner: show(owner ?? operator, 60),
    age,
    left: isRunning ? dueSeconds - age : undefined,
    commands: (commands ?? []).map((command) => show(command, COMMAND_LIMIT)),
    payable,
    settled: settled === undefined ? undefined : viewSettled(settled),
  };
}

/** `restored, still owing 3`, while a run owes something; undefined otherwise. */
export function viewOwing(
  obligations: readonly Pick<Obligation, 'kind' | 'settled'>[],
): FactLine | undefined {
  const open = obligations.filter(({ settled }) => settled === undefined);
  if (open.length === 0) return undefined;
  // Each of the others follows a restore.
  const wasRestored = obligations.some(({ kind }) => kind !== 'release-updates' && kind !== 'retire-key');
  return {
    label: 'owing',
    value: `${wasRestored ? 'restored, ' : ''}still owing ${open.length}`,
    tone: 'warn',
  };
}

/** What was settled in one way, each with what it is and how it was settled, in one printable line. */
export function remarksOn(
  obligations: readonly Obligation[],
  how: 'skipped' | 'hand',
): readonly { readonly id: string; readonly text: string }[] {
  return obligations.flatMap(({ id, what, settled }) =>
    settled?.how === how ? [{ id, text: readable(`${what}: ${viewSettled(settled).text}`) }] : [],
  );
}

/** How it was settled, in one line. */
export function viewSettled({ how, text, at }: Settled): NonNullable<ObligationView['settled']> {
  const { word, tone } = WAYS[how] ?? { word: how, tone: 'plain' };
  const when = at === undefined ? '' : ` at ${formatTime(at)} UTC`;
  return { tone, text: readable(`${word}${when}: ${text}`) };
}

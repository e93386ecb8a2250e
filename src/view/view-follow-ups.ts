import type { FollowUp } from '../../machines/parts/follow-up.ts';
import { formatTime, readable } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { FactLine, FollowUpView, Tone } from './run-view.ts';

/** Long enough for any command with its names and files, so that what is copied is whole. */
const COMMAND_LIMIT = 4_000;

type Closed = { readonly how: string; readonly text: string; readonly at?: string | undefined };

/** A follow-up as it lies in a machine's context, a ledger or the end of a run. */
export type RawFollowUp = Pick<FollowUp, 'id' | 'what' | 'subject'> & {
  readonly owner?: string | undefined;
  readonly since?: string | undefined;
  readonly dueSeconds?: number | undefined;
  readonly commands?: readonly string[] | undefined;
  readonly doable?: FollowUp['doable'];
  readonly closed?: Closed | undefined;
};

/** The words for each way to close a follow-up. What was skipped is not done. */
const WAYS: Readonly<Record<string, { readonly word: string; readonly tone: Tone }>> = {
  platform: { word: 'by the platform', tone: 'good' },
  cf: { word: 'by cf', tone: 'good' },
  hand: { word: 'by hand', tone: 'good' },
  run: { word: 'by this run', tone: 'good' },
  skipped: { word: 'skipped', tone: 'warn' },
};

/** One follow-up for people. The operator owns a follow-up that names no owner. */
export function viewFollowUp(followUp: RawFollowUp, operator: string, now: Date): FollowUpView {
  const { id, what, subject, owner, since, dueSeconds, commands, doable, closed } = followUp;
  const until = closed?.at === undefined ? now.getTime() : Date.parse(closed.at);
  const seconds = (until - Date.parse(since ?? '')) / 1000;
  const age = Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
  const isRunning = age !== undefined && dueSeconds !== undefined && closed === undefined;
  return {
    id: show(id, 120),
    what: readable(what),
    subject: show(subject, 120),
    owner: show(owner ?? operator, 60),
    age,
    left: isRunning ? dueSeconds - age : undefined,
    commands: (commands ?? []).map((command) => show(command, COMMAND_LIMIT)),
    doable,
    closed: closed === undefined ? undefined : viewClosed(closed),
  };
}

/** The label of the fact that says how many follow-ups are open. */
export const FOLLOW_UPS_LABEL = 'follow-ups';

/** `3 open`, while a run has open follow-ups; undefined otherwise. */
export function viewOpen(followUps: readonly Pick<FollowUp, 'closed'>[]): FactLine | undefined {
  const open = followUps.filter(({ closed }) => closed === undefined).length;
  return open === 0 ? undefined : { label: FOLLOW_UPS_LABEL, value: `${open} open`, tone: 'warn' };
}

/**
 * The follow-ups that were closed in one way, each with what it is and how it was closed, in one printable
 * line.
 */
export function remarksOn(
  followUps: readonly FollowUp[],
  how: 'skipped' | 'hand',
): readonly { readonly id: string; readonly text: string }[] {
  return followUps.flatMap(({ id, what, closed }) =>
    closed?.how === how ? [{ id, text: readable(`${what}: ${viewClosed(closed).text}`) }] : [],
  );
}

/** How it was done or why it was skipped, in one line. */
export function viewClosed({ how, text, at }: Closed): NonNullable<FollowUpView['closed']> {
  const { word, tone } = WAYS[how] ?? { word: how, tone: 'plain' };
  const when = at === undefined ? '' : ` at ${formatTime(at)} UTC`;
  return { tone, text: readable(`${word}${when}: ${text}`) };
}

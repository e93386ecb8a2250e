import type { RunContext } from '../context.ts';
import { safetyFallback } from '../fallback/before.ts';
import { choice, type Option, type RunQuestion, stop } from './asking.ts';
import { backup } from './backup.ts';
import { type Phase, state } from './phase.ts';

/** A backup of the present state, before it is replaced: the only way back from a restore in place. */
export function safetyBackup({ onDone }: { readonly onDone: string }): Phase {
  return backup({
    title: 'back up the present state',
    task: 'safeguard',
    what: 'the present state',
    slice: 'decide',
    without: { hint: 'the present state is lost for good by the restore' },
    fallback: safetyFallback,
    onDone,
    offer: (step) => ({
      offering: state({
        tags: ['question'],
        meta: {
          title: 'a backup of the present state',
          question: askForSafety,
          wayBack: 'restoring that backup brings the present state back',
        },
        on: {
          'operator.backUp': 'sending',
          'operator.goOnWithout': {
            target: 'over',
            actions: { type: 'noteSkip', params: ({ event }) => ({ step, reason: event.text }) },
          },
          'operator.stop': '#stopped',
        },
      }),
    }),
  });
}

const USABLE: readonly (string | undefined)[] = ['available', 'provisioned'];

function askForSafety({ preflight: { facts }, run: { instance } }: RunContext): RunQuestion {
  const { baseline, unsaid } = facts ?? {};
  const isUsable = USABLE.includes(baseline?.state);
  const state =
    unsaid === undefined
      ? `${instance} ${baseline?.state === undefined ? 'reports no state' : `is ${baseline.state}`}`
      : `${unsaid.by} does not say whether ${instance} is available`;
  const backUp: Option = {
    event: { type: 'operator.backUp' },
    label: 'back up the present state first',
    hint: isUsable
      ? 'however wrong it is, it is the only way back from the restore'
      : `${state}, so the backup may fail; it does no harm`,
    recommended: isUsable || unsaid !== undefined,
  };
  return choice(`the restore replaces everything that ${instance} holds now: back it up first?`, [
    backUp,
    {
      event: { type: 'operator.goOnWithout' },
      label: 'go on without',
      hint: 'what the instance holds now is lost for good',
      needs: { what: 'reason', prompt: 'why is the present state not backed up?' },
    },
    stop,
  ]);
}

import { provenOnRecord } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { proofBackupFallback } from '../fallback/backing-up.ts';
import { choice, type RunQuestion, stop } from './asking.ts';
import { backup } from './backup.ts';
import { noteReason } from './failing.ts';
import { when } from './guards.ts';
import { type Exits, type Phase, state, to } from './phase.ts';

const UNPROVEN = 'the card is made without a proven backup';

/** A card is only as good as its backup: offers to prove the newest, or to make one. */
export function proofBackup({ exits }: { readonly exits: Exits<'withoutProof' | 'stop'> }): Phase {
  return backup({
    title: 'choose a backup for the card',
    task: 'backup',
    what: 'the instance',
    without: { exit: exits.withoutProof, hint: UNPROVEN },
    fallback: proofBackupFallback,
    exits,
    offer: (step) => ({
      evaluatingRecord: state({
        meta: { title: 'whether the newest backup is proven already' },
        always: [
          {
            guard: when('the newest one is proven on record', isProvenOnRecord),
            target: to(exits.withoutProof),
          },
          { target: 'offering' },
        ],
      }),
      offering: state({
        tags: ['question'],
        meta: { title: 'a proven backup for the card', question: askForProof },
        on: {
          'operator.prove': 'over',
          'operator.backUp': 'sending',
          'operator.goOnWithout': {
            target: to(exits.withoutProof),
            actions: noteReason(step),
          },
          'operator.stop': to(exits.stop),
        },
      }),
    }),
  });
}

function isProvenOnRecord(context: RunContext): boolean {
  return context.key.stored === undefined && provenOnRecord(context) !== undefined;
}

function askForProof({ preflight: { facts }, key: { stored } }: RunContext): RunQuestion {
  const { newest, keysHeld = [] } = facts ?? {};
  const isKeyless = keysHeld.length === 0 && stored === undefined;
  const why = whyNotProvable(
    newest === undefined,
    newest?.downloadable,
    keysHeld.length,
    stored !== undefined,
  );
  return choice('a card is only as good as its backup: prove one?', [
    {
      event: { type: 'operator.prove' },
      label: newest === undefined ? 'prove the newest backup' : `prove backup ${newest.id}, the newest`,
      hint: 'downloads it, opens it with a key held here and reads it to its last byte',
      ...(why === undefined ? { recommended: true } : { disabled: why }),
    },
    {
      event: { type: 'operator.backUp' },
      label: 'create a new backup and prove it',
      hint: isKeyless
        ? 'no key of this instance is held here: add the one in force to the key store first'
        : 'takes longer, and shows which key is in force now',
      recommended: why !== undefined && !isKeyless,
    },
    {
      event: { type: 'operator.goOnWithout' },
      label: 'go on without proof',
      hint: UNPROVEN,
      needs: { what: 'reason', prompt: 'why is no backup proven?' },
    },
    stop,
  ]);
}

function whyNotProvable(
  isNone: boolean,
  downloadable: boolean | undefined,
  keys: number,
  isRotated: boolean,
): string | undefined {
  if (isNone) return 'there is no backup that is done';
  if (isRotated) return 'it was made before the key was set';
  if (downloadable === false) return 'the service does not offer it for download';
  return keys === 0 ? 'no key of this instance is held here' : undefined;
}

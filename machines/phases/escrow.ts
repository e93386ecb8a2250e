import type { RunContext } from '../context.ts';
import { escrowFallback } from '../fallback/keys.ts';
import { changed } from '../setup.ts';
import { heldKey } from './key.ts';
import { type Exits, type Phase, phase, to } from './phase.ts';
import { task } from './task.ts';

/** Whether the config asks for sealed copies of keys; a run that began without them goes on without. */
export function keepsEscrow({ preflight: { facts } }: RunContext): boolean {
  return facts?.escrow !== undefined;
}

/**
 * Puts sealed copies of the new key into every place before anything is sent. A policy that cannot be met
 * stops the run here: nothing leads on without it.
 */
export function escrow({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  const head = { title: 'seal copies of the new key', like: 'escrow', fallback: escrowFallback, exits };
  return phase(head, (step) =>
    task('sealing', {
      verb: 'escrowKey',
      title: 'sealing copies of the new key',
      input: (context) => ({ fingerprint: heldKey(context).fingerprint }),
      keep: (context, escrowed) => changed(context, 'key', { escrowed }),
      next: 'over',
      failed: {
        step,
        title: 'the new key is not in escrow',
        stop: to(exits.stop),
        ways: {
          retry: 'seals the copies again; nothing has been sent to the service',
          skip: { disabled: 'the config asks for sealed copies before a key is sent' },
          markDone: { disabled: 'the copies are checked from here' },
        },
      },
    }),
  );
}

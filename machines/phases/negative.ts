import { assign } from 'xstate';
import { changed } from '../setup.ts';
import { type Phase, phase, state } from './phase.ts';
import { task } from './task.ts';

interface Negative {
  /** Which keys are tried: those that were in force before, or any other. */
  readonly keys: 'old' | 'other';
  readonly onDone: string;
}

/** No other key opens the backup: one that any key opened would prove nothing. */
export function negative({ keys, onDone }: Negative): Phase {
  const title = keys === 'old' ? 'the old key must fail' : 'other keys must fail';
  const found =
    keys === 'old'
      ? { code: 'rotation.old-key-opens', words: 'an old key still opens the new backup' }
      : { code: 'backup.another-key-opens', words: 'another key opens the backup as well' };
  return phase({ title, like: 'negative', onDone }, (step) => ({
    ...task('trying', {
      verb: 'negativeTest',
      title: `trying the ${keys} keys, which must fail`,
      input: ({ proof: { file, verification } }) => ({
        path: file?.path ?? '',
        except: verification?.opens ?? '',
      }),
      keep: (context, output) => changed(context, 'proof', { negative: output }),
      next: 'evaluating',
      failed: {
        step,
        title: 'the negative test did not pass',
        next: 'over',
        ways: {
          retry: `tries the ${keys} keys on the backup again`,
          skip:
            keys === 'old'
              ? 'it stays unknown whether the old key still works'
              : 'it stays unknown whether another key opens it',
          markDone: `how was it tested that the ${keys} keys fail?`,
        },
      },
    }),
    evaluating: state({
      meta: { title: `whether one of the ${keys} keys opens it` },
      always: [
        {
          guard: ({ context }) => (context.proof.negative?.opened.length ?? 0) > 0,
          target: 'tryingFailed',
          actions: assign({
            failure: ({ context }) => ({
              code: found.code,
              shortMessage: `${found.words}: ${context.proof.negative?.opened.join(', ')}`,
              hints: ['the same key may be stored under two names: look at `lifeboat keys list`'],
              evidence: {},
            }),
          }),
        },
        { target: 'over' },
      ],
    }),
  }));
}

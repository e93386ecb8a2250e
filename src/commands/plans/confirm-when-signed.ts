import type { ApprovalGate } from '../../approvals/gate.ts';
import { questionOf } from '../../runner/answer.ts';
import type { Run } from '../../runner/run.ts';

/** How often a signature is looked for. Milliseconds. */
const LOOK_MS = 2_000;

/**
 * Types the name of an approval as soon as a signature that counts is there; before it resolves, those that
 * are there already. Lets what has expired act. Returns what ends it.
 */
export async function confirmWhenSigned(run: Run, gate: ApprovalGate): Promise<() => void> {
  const look = async (): Promise<void> => {
    const state = run.state();
    const question = questionOf(state.snapshot);
    if (question?.kind !== 'typed-name' || question.byOthers === undefined) return;
    run.wake();
    const approval = await gate.lookAt(state).catch(() => undefined);
    if (approval === undefined) return;
    const isTaken = await run.answer({ event: question.event, typed: question.expected }).then(
      () => true,
      () => false,
    );
    // Another one may be asked for next.
    if (isTaken) await look();
  };
  await look();
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look().finally(() => {
      looking = false;
    });
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

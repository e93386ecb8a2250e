import { failureOf } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { AppPort, ShowRun } from '../view/app/app-port.ts';
import type { ErrandEnd } from '../view/app/errand.ts';
import type { StartWish } from '../view/app/start-wish.ts';
import type { RunEnd, RunPort } from '../view/run-port.ts';

interface StartEach {
  readonly wishes: readonly StartWish[];
  readonly start: AppPort['start'];
  /** Shows a run, and closes it by itself where it ends well. */
  readonly show: ShowRun;
}

/**
 * Begins one run after the other, and gives what became of each. One that cannot be begun holds up none of
 * the others; one that is left ends it.
 */
export async function startEach({ wishes, start, show: showRun }: StartEach): Promise<ErrandEnd> {
  const ends: string[] = [];
  let proven = 0;
  for (const wish of wishes) {
    const name = show(wish.instance, 80);
    let seen: { readonly port: RunPort; readonly end: RunEnd } | undefined;
    try {
      await start(wish, async (port) => {
        const end = await showRun(port);
        seen = { port, end };
        return end;
      });
    } catch (thrown) {
      ends.push(`${name}: ${failureOf(thrown).shortMessage}`);
      continue;
    }
    if (seen === undefined) ends.push(`${name}: no run was begun`);
    else if (seen.end.how === 'ended') {
      const { runId, outcome } = seen.port.view();
      if (outcome?.tone === 'good') proven += 1;
      ends.push(`${name}: ${outcome?.title ?? 'it is over'} (run ${runId})`);
    } else {
      ends.push(`${name}: left open, resume it with: lifeboat resume ${seen.port.view().runId}`);
      break;
    }
  }
  const left = wishes.slice(ends.length).map(({ instance }) => `${show(instance, 80)}: not begun`);
  return { text: `${proven} of ${wishes.length} ended well`, lines: [...ends, ...left], hints: [] };
}

import { failureOf } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { AppPort, ShowRun } from '../view/app/app-port.ts';
import { type Errand, type ErrandEnd, errandWords } from '../view/app/app-port.ts';
import type { StartWish } from '../view/app/start-wish.ts';
import type { RunEnd, RunPort } from '../view/run-port.ts';
import type { LiveScreen } from './live-screen.ts';
import type { Notice } from './screens/notice/notice.ts';

interface ErrandsOptions {
  readonly isDriving: () => boolean;
  /** Puts a notice on the stack. */
  readonly notice: (notice: Notice) => LiveScreen;
  readonly remove: (screen: LiveScreen) => void;
  /** Shows a line until the next key. */
  readonly say: (text: string) => void;
  readonly onDone: () => void;
  /** The task is over and its notice was closed. */
  readonly onOver: () => void;
}

/** Background tasks beneath the screens. Runs are begun one at a time. */
interface Errands {
  /** Runs `act` alone. Shows the lines or the end that it resolves with, or its error. */
  begin(title: string, act: () => Promise<readonly string[] | ErrandEnd>): void;
  /** Runs a short task, also beside a run. Shows the line that it resolves with, or its error. */
  beside(title: string, act: () => Promise<string | undefined>): void;
  /** Runs a long task, also beside a run, and shows its end; `leaving` aborts when the app is left. */
  carry(errand: Errand, act: (leaving: AbortSignal) => Promise<ErrandEnd>): void;
  stop(): void;
  refused(title: string, thrown: unknown): void;
  /** Resolves once no task is running. */
  settled(): Promise<unknown>;
}

export function createErrands({ isDriving, notice, remove, say, onDone, onOver }: ErrandsOptions): Errands {
  const working = new Set<Promise<unknown>>();
  const refused = (title: string, thrown: unknown) => {
    const { shortMessage, hints } = failureOf(thrown);
    notice({ title, text: shortMessage, hints });
  };
  const leaving = new AbortController();
  return {
    refused,
    carry(errand, act) {
      const { title, meanwhile } = errandWords(errand);
      this.beside(title, async () => {
        say(`${meanwhile}; what comes of it is shown here`);
        const end = await act(leaving.signal);
        if (!leaving.signal.aborted) notice({ title, ...end });
        return '';
      });
    },
    stop: () => leaving.abort(),
    begin(title, act) {
      if (isDriving()) {
        const hints = ['Esc goes back to it; leave it there, or open a second terminal'];
        notice({ title: 'one run at a time', text: 'this window already drives a run', hints });
        return;
      }
      const waiting = notice({ title, text: 'opening the journal and the keys', hints: [] });
      const done = act()
        .then(
          (said) => {
            remove(waiting);
            if ('text' in said) notice({ title, ...said });
            else if (said.length > 0) notice({ title, text: 'what it printed meanwhile', hints: said });
          },
          (thrown: unknown) => {
            remove(waiting);
            refused(title, thrown);
          },
        )
        .finally(() => {
          working.delete(done);
          onDone();
          onOver();
        });
      working.add(done);
    },
    beside(title, act) {
      act()
        .then(
          (text) => (text === undefined ? undefined : say(text)),
          (thrown: unknown) => {
            say('');
            if (!leaving.signal.aborted) refused(title, thrown);
          },
        )
        .finally(onDone);
    },
    settled: () => Promise.allSettled(working),
  };
}

interface StartEach {
  readonly wishes: readonly StartWish[];
  readonly start: AppPort['start'];
  /** Shows a run, and closes its screen if it ends well. */
  readonly show: ShowRun;
}

/** Runs the wishes one after the other. One that cannot begin does not stop the others; leaving one does. */
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

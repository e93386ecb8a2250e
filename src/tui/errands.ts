import { failureOf } from '../base/errors.ts';
import { type Errand, type ErrandEnd, errandWords } from '../view/app/errand.ts';
import type { LiveScreen } from './live-screen.ts';
import type { Notice } from './screens/notice/notice.ts';

export interface ErrandsOptions {
  /** Whether a run is driven in this window. */
  readonly isDriving: () => boolean;
  /** Puts a notice on the stack. */
  readonly notice: (notice: Notice) => LiveScreen;
  readonly remove: (screen: LiveScreen) => void;
  /** Says a line that goes away with the next key. */
  readonly say: (text: string) => void;
  readonly onDone: () => void;
  /** What was begun is over, and its notice is gone. */
  readonly onOver: () => void;
}

/** What begins and drives runs beneath the screens, one at a time. */
export interface Errands {
  /**
   * `act` gives the lines that it said beside the screen, or what it came to. What it rejects with is shown.
   */
  begin(title: string, act: () => Promise<readonly string[] | ErrandEnd>): void;
  /** Something short, also beside a run. What `act` gives is said; what it rejects with is shown. */
  beside(title: string, act: () => Promise<string | undefined>): void;
  /** Something longer, also beside a run; `leaving` is aborted when the app is left. Its end is shown. */
  carry(errand: Errand, act: (leaving: AbortSignal) => Promise<ErrandEnd>): void;
  /** Ends what is carried out. */
  stop(): void;
  /** Shows what something was rejected with. */
  refused(title: string, thrown: unknown): void;
  /** Resolves when nothing is under way any more. */
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

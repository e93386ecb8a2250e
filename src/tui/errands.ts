import { failureOf } from '../base/errors.ts';
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
  /** `act` gives the lines that it said beside the screen. What it rejects with is shown. */
  begin(title: string, act: () => Promise<readonly string[]>): void;
  /** Something short, also beside a run. What `act` gives is said; what it rejects with is shown. */
  beside(title: string, act: () => Promise<string | undefined>): void;
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
  return {
    refused,
    begin(title, act) {
      if (isDriving()) {
        const hints = ['Esc goes back to it; leave it there, or open a second terminal'];
        notice({ title: 'one run at a time', text: 'this window already drives a run', hints });
        return;
      }
      const waiting = notice({ title, text: 'opening the journal and the keys', hints: [] });
      const done = act()
        .then(
          (lines) => {
            remove(waiting);
            if (lines.length > 0) notice({ title, text: 'what it printed meanwhile', hints: lines });
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
            refused(title, thrown);
          },
        )
        .finally(onDone);
    },
    settled: () => Promise.allSettled(working),
  };
}

import type { RunEnd, RunPort } from '../view/run-port.ts';
import type { RunView } from '../view/run-view.ts';
import type { HostOptions } from './host-options.ts';
import type { AppEffect } from './live-screen.ts';
import { runScreen } from './screens/run/run-screen.ts';
import type { Stack } from './stack.ts';

/** The run that is driven on the stack of screens. */
export interface Driving {
  /** As its screen has looked at it last; undefined where none is driven. */
  view(): RunView | undefined;
  /**
   * Shows a run, and gives its end when it has ended or is left, and the screen is closed. `if-good` closes
   * the screen of a run that ended well by itself: others follow it.
   */
  show(port: RunPort, closes?: 'if-good'): Promise<RunEnd>;
  /** Lets go of every run, also of those that are shown later, with the reason for their journals. */
  leave(why: string): void;
  /** Closes the screen of every run: one that has come to its end waits to be read. */
  close(): void;
}

type DrivingOptions = Pick<
  HostOptions,
  'monotonic' | 'reading' | 'readMoment' | 'suspend' | 'onDone' | 'app'
> & {
  readonly stack: Stack;
  /** What a key on the screen of a run asks of the stack. */
  readonly onEffect: (effect: AppEffect) => void;
  /** What leads on from a run, once its screen is closed. */
  readonly onLead: (effect: AppEffect) => void;
};

export function createDriving(options: DrivingOptions): Driving {
  const { stack } = options;
  let driven: RunView | undefined;
  /** What closes the screen of each run. */
  const closers = new Set<() => void>();
  /** Why everything is let go of, from then on. */
  let leaving: string | undefined;
  return {
    view: () => driven,
    leave(why) {
      leaving = why;
    },
    close() {
      for (const close of closers) close();
    },
    async show(port, closes) {
      const done = Promise.withResolvers<'left' | 'closed'>();
      // The view that the screen has looked at last: to fold the run once more would cost as much again.
      const seen = { ...port, view: () => (driven = port.view()), fallback: () => port.fallback() };
      // With the only screen the process goes, too: nothing can be begun after it.
      const isAlone = stack.screens().length === 0;
      let lead: AppEffect | undefined;
      const onLead = (effect: AppEffect) => {
        lead = effect;
        done.resolve('closed');
      };
      const screen = runScreen(seen, {
        now: options.monotonic,
        reading: options.reading,
        hasPalette: options.app !== undefined,
        readMoment: options.readMoment,
        onDone: done.resolve,
        onSuspend: options.suspend,
        onEffect: options.onEffect,
        onLead: isAlone ? undefined : onLead,
      });
      const close = () => done.resolve('left');
      closers.add(close);
      stack.push(screen, 'run', screen.stop);
      let isOver = false;
      port.ended.then(({ how }) => {
        isOver = true;
        // A run that has come to its end stays on the screen until it has been read.
        const { outcome } = port.view();
        const isRead = closes === 'if-good' && outcome?.tone === 'good';
        if (how !== 'ended' || outcome === undefined || isRead) done.resolve('closed');
      }, done.reject);
      // It was still being opened when everything was let go of.
      if (leaving !== undefined) done.resolve('left');
      try {
        const how = await done.promise;
        if (!isOver) await screen.leave(leaving);
        const end = await port.ended;
        if (stack.screens().length === 1) options.onDone(how);
        return end;
      } finally {
        driven = undefined;
        stack.remove(screen);
        closers.delete(close);
        if (lead !== undefined && leaving === undefined) options.onLead(lead);
      }
    },
  };
}

import { failureOf } from '../../../base/errors.ts';
import type { WatchedPort } from '../../../view/app/app-port.ts';
import { momentReader } from '../../../view/moment-reader.ts';
import type { LiveScreen, ScreenRequest } from '../../live-screen.ts';
import type { ModuleScreenOptions, OpenScreen } from '../../module-screen.ts';
import { noticeScreen } from '../notice/notice.ts';
import { runScreen } from '../run/run-screen.ts';

/** Watches another process's run. Reads it while the screen has listeners; others may cover it. */
export function watchScreen(request: ScreenRequest & { readonly name: 'watch' }): OpenScreen {
  return (options) => {
    const listeners = new Set<() => void>();
    const tell = () => {
      for (const listener of listeners) listener();
    };
    let inner: LiveScreen = waiting(request.runId, options);
    let looking: Promise<(() => Promise<void>) | undefined> | undefined;
    let unsubscribe = inner.subscribe(tell);
    const replace = (next: LiveScreen) => {
      unsubscribe();
      inner = next;
      unsubscribe = inner.subscribe(tell);
      tell();
    };
    const look = async () => {
      if (options.watch === undefined) return undefined;
      try {
        const watched = await options.watch(request.runId);
        const onDone = () => options.onEffect({ type: 'back' });
        const { onEffect } = options;
        if (watched.of === 'plan') {
          const { planScreen } = await import('../plan/plan-screen.ts');
          const enter = () => Promise.reject(new Error('a plan that is watched asks for no secret'));
          const plan = planScreen(watched.port, { ...options, enter, onDone });
          replace(plan);
          sayWhyItBroke(watched, options, replace);
          return async () => {
            plan.stop();
            await plan.leave();
          };
        }
        const run = runScreen(watched.port, {
          now: options.monotonic ?? (() => performance.now()),
          hasPalette: true,
          readMoment: momentReader,
          onDone,
          onSuspend: () => undefined,
          onEffect,
        });
        replace(run);
        sayWhyItBroke(watched, options, replace);
        return async () => {
          run.stop();
          await watched.port.detach();
        };
      } catch (thrown) {
        replace(broken(thrown, options));
        return undefined;
      }
    };
    const stop = async () => {
      unsubscribe();
      await (await looking)?.();
    };

    return {
      request,
      title: () => `watch: ${inner.title()}`,
      subscribe(listener) {
        listeners.add(listener);
        looking ??= look();
        return () => {
          listeners.delete(listener);
          if (listeners.size === 0) void stop();
        };
      },
      isTyping: () => inner.isTyping(),
      keys: () => inner.keys(),
      needs: () => [{ source: 'home', of: null }],
      layOut: (size, look) => inner.layOut(size, look),
      // The stack of screens handles suspending.
      press: (stroke, size) =>
        !(stroke?.kind === 'key' && stroke.key === 'ctrl+z') && inner.press(stroke, size),
      paste: (text, size) => inner.paste(text, size),
      leave: stop,
    };
  };
}

function waiting(runId: string, options: ModuleScreenOptions): LiveScreen {
  return noticeScreen({ title: 'watch', text: `reading the journal of run ${runId}`, hints: [] })(options);
}

function broken(thrown: unknown, options: ModuleScreenOptions): LiveScreen {
  const { shortMessage, hints } = failureOf(thrown);
  return noticeScreen({ title: 'watch', text: shortMessage, hints })(options);
}

function sayWhyItBroke(
  { port }: WatchedPort,
  options: ModuleScreenOptions,
  replace: (next: LiveScreen) => void,
): void {
  port.ended.catch((thrown: unknown) => replace(broken(thrown, options)));
}

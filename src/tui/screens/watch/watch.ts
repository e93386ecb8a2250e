import { failureOf } from '../../../base/errors.ts';
import { momentReader } from '../../../view/moment-reader.ts';
import type { RunPort } from '../../../view/run-port.ts';
import type { LiveScreen, ScreenRequest } from '../../live-screen.ts';
import type { ModuleScreenOptions, OpenScreen } from '../../module-screen.ts';
import { noticeScreen } from '../notice/notice.ts';
import { runScreen } from '../run/run-screen.ts';

/**
 * Watches a run that another process drives. Reads the run while the screen has listeners; other screens may
 * cover it.
 */
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
        const port = await options.watch(request.runId);
        const back = () => options.onEffect({ type: 'back' });
        const run = runScreen(port, {
          now: options.monotonic ?? (() => performance.now()),
          hasPalette: true,
          readMoment: momentReader,
          onDone: back,
          onSuspend: () => undefined,
          onEffect: options.onEffect,
        });
        replace(run);
        sayWhyItBroke(port, options, replace);
        return async () => {
          run.stop();
          await port.detach();
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
  port: RunPort,
  options: ModuleScreenOptions,
  replace: (next: LiveScreen) => void,
): void {
  port.ended.catch((thrown: unknown) => replace(broken(thrown, options)));
}

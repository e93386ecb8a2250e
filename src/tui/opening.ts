import type { LiveScreen, ScreenRequest } from './live-screen.ts';
import type { OpenScreen } from './module-screen.ts';
import type { Stack } from './stack.ts';

export interface OpeningOptions {
  readonly stack: Pick<Stack, 'top' | 'push' | 'uncover'>;
  readonly load: (request: ScreenRequest) => Promise<OpenScreen>;
  readonly made: (open: OpenScreen, request: ScreenRequest) => LiveScreen;
  /** Shows why a screen could not be loaded. */
  readonly onFailed: (thrown: unknown) => void;
}

/**
 * Opens screens, which have to be loaded first. What was typed meanwhile is for the screen that is opened.
 */
export interface Opening {
  /**
   * Goes back to the screen of a request, or loads it and puts it on the stack, where `leave` is called just
   * before. Nothing is opened over a screen that has come up meanwhile.
   */
  open(request: ScreenRequest, leave?: () => void): void;
  /** Whether a screen is being loaded: `act` is then called as soon as it is there. */
  isKept(act: () => void): boolean;
  /** Opens nothing more. */
  stop(): void;
}

export function createOpening({ stack, load, made, onFailed }: OpeningOptions): Opening {
  let kept: (() => void)[] | undefined;
  let isStopped = false;

  const isKept = (act: () => void): boolean => {
    kept?.push(act);
    return kept !== undefined;
  };
  const put = async (request: ScreenRequest, leave: () => void) => {
    const beneath = stack.top();
    let opened: LiveScreen | undefined;
    try {
      const screen = await load(request);
      if (isStopped || stack.top() !== beneath) return;
      leave();
      opened = made(screen, request);
      stack.push(opened);
    } catch (thrown) {
      if (!isStopped) onFailed(thrown);
    } finally {
      const acts = kept ?? [];
      kept = undefined;
      // On any other screen a key that was read so long ago would answer what nobody has seen yet.
      for (const act of acts) if (kept !== undefined || stack.top() === opened) act();
    }
  };
  const open = (request: ScreenRequest, leave: () => void = () => undefined): void => {
    if (isStopped || isKept(() => open(request, leave)) || stack.uncover(request)) return;
    kept = [];
    void put(request, leave);
  };
  return {
    open,
    isKept,
    stop() {
      isStopped = true;
      kept = undefined;
    },
  };
}

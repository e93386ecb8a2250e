import diagnostics from 'node:diagnostics_channel';

/** What a command listens to that lasts longer than the command. */
export interface Listening {
  /** For the module `node:diagnostics_channel`. */
  readonly channels: object;
  readonly AbortSignal: typeof AbortSignal;
  /** Ends the listening. */
  leave(): void;
}

/**
 * Channels of Node and signals for one command in this process. With the process of a command everything ends
 * that it listens to. Here a listener that stays keeps in memory all that the command has loaded, and one on
 * a channel hears of every request of every later command.
 */
export function ownListening(): Listening {
  const endings: (() => void)[] = [];
  const channel = (name: string) => {
    const shared = diagnostics.channel(name);
    const subscribe: typeof shared.subscribe = (listener) => {
      shared.subscribe(listener);
      endings.push(() => shared.unsubscribe(listener));
    };
    return Object.create(shared, { subscribe: { value: subscribe } }) as typeof shared;
  };
  // Node keeps a signal that is made of others as long as anything listens to it.
  const any = (signals: AbortSignal[]) => {
    const signal = AbortSignal.any(signals);
    const listen = signal.addEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof listen>) => {
      listen(...args);
      endings.push(() => signal.removeEventListener(...args));
    };
    return signal;
  };
  return {
    channels: { ...diagnostics, channel },
    AbortSignal: new Proxy(AbortSignal, {
      get: (target, name) => (name === 'any' ? any : Reflect.get(target, name)),
    }),
    leave: () => {
      for (const end of endings.splice(0)) end();
    },
  };
}

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** One end of a connection that the kernel keeps, as it does that of a terminal. */
export interface Wire {
  /** Where it is read. */
  readonly end: Socket;
  /** The text is with the kernel when this returns. */
  write(text: string): void;
  stop(): void;
}

/** Opens a connection of this process to itself. */
export async function openWire(): Promise<Wire> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const far = connect({ port, host: '127.0.0.1', noDelay: true });
  const [end] = await accepted;
  if (far.connecting) await once(far, 'connect');
  return {
    end,
    write: (text) => void far.write(text),
    stop: () => {
      for (const socket of [far, end]) socket.destroy();
      server.close();
    },
  };
}

/** Lets nothing else happen in this process for so long, as on a machine that is busy. */
export function holdProcessUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

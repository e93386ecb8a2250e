import { EXIT, failureOf, LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { isLocal, type Listening, readListening } from '../../base/listening.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { openReaderOf } from '../../compose/store-of.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { ServeConfig } from '../../config/serve.ts';
import { fanOut } from '../../serve/fan-out.ts';
import { startPageServer } from '../../serve/page-server.ts';
import { FollowedRecord } from './followed-record.ts';
import { gateOf } from './gate-of.ts';
import { RecordPages } from './record-pages.ts';
import { writeSnapshot } from './snapshot.ts';

interface ServeFlags {
  readonly listen?: string;
  readonly maskNames?: boolean;
  readonly snapshot?: string;
  readonly page?: string;
}

/** How many may look on at once: each holds a connection. */
const MOST_STREAMS = 500;

/**
 * `lifeboat serve`: read-only pages of the record until a signal (exit 0). Rejects with `serve.open` (exit 2)
 * where other machines could ask without an identifying proxy. `--snapshot`: one page as a new file.
 */
export const serve: Action<ServeFlags> = async (context, _, flags) => {
  const config = await loadConfig(context.env, context.configPath);
  const settings = config.serve ?? ServeConfig.parse({});
  const isMasked = flags.maskNames === true || settings.names === 'masked';
  if (flags.page !== undefined && flags.snapshot === undefined)
    throw new LifeboatError('usage.option', '--page names the page of a snapshot', {
      hints: ['add --snapshot FILE', 'without it every page is served'],
      exitCode: EXIT.usage,
    });
  if (flags.listen !== undefined && flags.snapshot !== undefined)
    throw new LifeboatError('usage.option', 'a snapshot is a file: it listens nowhere', {
      hints: ['leave out --listen or --snapshot', 'nothing was written'],
      exitCode: EXIT.usage,
    });
  const listening = listeningOf(flags.listen ?? settings.listen);
  if (flags.snapshot === undefined) assertGuarded(listening, settings);
  const stop = stopSignal();
  const journal = await openReaderOf(context);
  try {
    const news = fanOut({ most: MOST_STREAMS, size: 0 });
    const { signal } = stop;
    const { record, over } = await FollowedRecord.follow(journal, {
      signal,
      onNews: (size) => news.tell(size),
    });
    news.tell(record.size);
    const sources = new RecordPages(context, config, record, isMasked);
    if (flags.snapshot !== undefined) {
      await writeSnapshot(context, { sources, record }, { file: flags.snapshot, page: flags.page ?? '/' });
      return EXIT.closed;
    }
    const say = sayTo(context);
    const server = await startPageServer({
      ...{ listening, sources, news, say },
      gate: await gateOf(settings, listening, say),
      onFailure: (thrown) => say(`a page cannot be made: ${failureOf(thrown).shortMessage}`),
    });
    say(`the page is at ${server.address}`);
    try {
      // The log can no longer be read: a service manager starts this again.
      await Promise.race([stop.stopped, over]);
    } finally {
      await server.close();
    }
    return EXIT.closed;
  } finally {
    stop.release();
    await journal.close();
  }
};

function sayTo({ stderr }: CommandContext): (line: string) => void {
  return (line) => void stderr.write(`${formatTime(new Date().toISOString())}  ${show(line, 300)}\n`);
}

function listeningOf(text: string): Listening {
  const read = readListening(text);
  if (read !== undefined) return read;
  throw new LifeboatError(
    'usage.option',
    `--listen: ${show(text, 80)} is neither ADDRESS:PORT nor unix:/PATH`,
    {
      hints: ['such as 127.0.0.1:8437, [::1]:8437 or unix:/run/lifeboat/page.sock'],
      exitCode: EXIT.usage,
    },
  );
}

function assertGuarded(listening: Listening, { identity }: NonNullable<LoadedConfig['serve']>): void {
  if (isLocal(listening) || identity !== undefined) return;
  throw new LifeboatError('serve.open', 'others than this machine could ask, and nobody says who they are', {
    hints: [
      'nothing was started',
      'let it listen on 127.0.0.1 or a socket, and put a proxy in front',
      'or name that proxy in lifeboat.yaml: serve: {trustedProxies: […], identity: {…}}',
    ],
    exitCode: EXIT.usage,
  });
}

import type { BoundApp, PlatformInstance } from '../../../machines/parts/recovery-data.ts';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { Leave } from '../../service/call.ts';
import type { Capi } from '../capi/capi.ts';
import { findApp, type Place, placesOf } from '../capi/find-bindings.ts';
import { type App, ServiceInstance } from '../capi/schemas.ts';
import type { Pace } from '../wait.ts';
import type { PrivateHome } from './login.ts';
import type { CfTool, ToolCall, ToolOutput } from './tool.ts';

/** What every change by the tool works with. */
export interface Session {
  readonly tool: CfTool;
  readonly capi: Capi;
  readonly home: PrivateHome;
  readonly pace: Pace;
  /** Runs one command in a space; no other command comes between the two. */
  inSpace(where: Place, what: string, command: Command, call: ToolCall & Leave): Promise<ToolOutput>;
}

/** A command of the tool: its word, the names it is about, and its options. */
interface Command {
  readonly word: string;
  readonly names: readonly string[];
  readonly options: readonly string[];
}

const TARGET_MS = 60_000;

/** One command at a time: the target of the tool is a file that all of them share. */
export function openSession(tool: CfTool, capi: Capi, home: PrivateHome, pace: Pace): Session {
  let last: Promise<unknown> = Promise.resolve();
  return {
    tool,
    capi,
    home,
    pace,
    inSpace: (where, what, { word, names, options }, call) => {
      const turn = last.then(async () => {
        const { org, space } = where;
        if (org === undefined || space === undefined) throw unnamed(what);
        for (const name of [org, space, ...names]) refuseOption(name, what);
        await tool.must(`choosing the space for ${what}`, ['target', '-o', org, '-s', space], {
          signal: call.signal,
          timeoutMs: TARGET_MS,
        });
        return tool.must(what, [word, ...names, ...options], call);
      });
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

/** The application as it is now and the space it is in, by the platform's names. */
export async function placeOfApp(
  { capi }: Session,
  app: BoundApp,
  signal: AbortSignal,
): Promise<{ readonly app: App; readonly where: Place }> {
  const found = await findApp(capi, app, signal);
  return { app: found, where: await placeOf(capi, found.relationships?.space?.data?.guid, signal) };
}

/** The service instance by its guid, and its own space. */
export async function placeOfInstance(
  { capi }: Session,
  { guid }: Pick<PlatformInstance, 'guid'>,
  signal: AbortSignal,
): Promise<{ readonly instance: ServiceInstance; readonly where: Place }> {
  const path = `/v3/service_instances/${encodeURIComponent(guid)}`;
  const { value } = await capi.get(path, ServiceInstance, signal);
  return { instance: value, where: await placeOf(capi, value.relationships?.space?.data?.guid, signal) };
}

async function placeOf(capi: Capi, guid: string | undefined, signal: AbortSignal): Promise<Place> {
  return guid === undefined ? {} : ((await placesOf(capi, [guid], signal)).get(guid) ?? {});
}

/** The tool has no way to say that a word is not an option. */
function refuseOption(name: string, what: string): void {
  if (!name.startsWith('-') && !name.includes('\0')) return;
  throw new LifeboatError(
    'platform.refused',
    `the cf tool would take the name ${show(name, 60)} for an option: ${what} by hand`,
    { hints: ['or set `platform.api` in the config, which uses ids'] },
  );
}

function unnamed(what: string): LifeboatError {
  return new LifeboatError('platform.forbidden', `the token does not see the space for ${what}`, {
    hints: ['ask a space developer of that space'],
  });
}

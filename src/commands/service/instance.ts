import { type Action, updateLines } from '../../activities/doubt-action.ts';
import { EXIT } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { InstanceOverview } from '../../service/schemas.ts';
import { changeInstance } from './change.ts';
import { lookInPlace } from './look-first.ts';
import { askInstance, type InstanceFlags } from './on-instance.ts';
import type { Change, ChangeFlags, Wait, Weight } from './planned-change.ts';
import { printAnswer } from './print-answer.ts';
import { printFacts } from './print-facts.ts';

/** `lifeboat instance show`: the overview (endpoint 12). */
export async function instanceShow(
  context: CommandContext,
  _: readonly string[],
  flags: InstanceFlags,
): Promise<number> {
  const answer = await askInstance(context, flags, ({ service }) => service.overview());
  await printAnswer(context, 'instance', answer, () => printOverview(context, answer.value));
  return EXIT.closed;
}

/** `lifeboat instance restart` (endpoint 14). */
export const instanceRestart = acting('restart', 'changes', [
  'the database is away while it restarts; connections are cut',
]);

/**
 * `lifeboat instance recreate` (endpoint 13). It rebuilds the instance's machines, so it asks for the name.
 */
export const instanceRecreate = acting('recreate', 'destroys', [
  'the machines of the instance are built anew; the database is away meanwhile',
  'take a backup first, if there is none that is proven',
]);

/** `lifeboat instance update` (endpoint 15): starts the pending maintenance updates. */
export const instanceUpdate = acting('update', 'changes', [
  'an update cannot be taken back; the database is away while it runs',
]);

/** A command that asks for one action of the instance. */
function acting(verb: Action, weight: Weight, warnings: readonly string[]) {
  return (context: CommandContext, _: readonly string[], flags: ChangeFlags): Promise<number> =>
    changeInstance(context, flags, { weight, needs: verb, look: LOOK }, async ({ instance }, { seen }) =>
      action(context, instance, verb, seen.overview, warnings),
    );
}

/** `lifeboat instance settings`: allows or forbids maintenance updates (`broker/edit`, revision 61). */
export function instanceSettings(
  context: CommandContext,
  _: readonly string[],
  flags: ChangeFlags & { readonly allowUpdates: string; readonly type: string },
): Promise<number> {
  const allowed = flags.allowUpdates === 'true';
  return changeInstance(
    context,
    flags,
    { weight: 'changes', needs: 'changeUpdateSetting', look: LOOK },
    async ({ instance }) => ({
      title: `${allowed ? 'allow' : 'forbid'} maintenance updates of ${instance.name}`,
      warnings: allowed
        ? ['no call tells what the setting is now: who has forbidden updates on purpose is overruled']
        : ['no update, and no security fix, is installed by itself until they are allowed again'],
      act: (perform) =>
        perform({ verb: 'changeUpdateSetting', input: { setting: { type: flags.type, allowed } } }),
      done: () => ({
        fields: { settings: { type: flags.type, updatesAllowed: allowed } },
        text: `maintenance updates are ${allowed ? 'allowed' : 'forbidden'}`,
      }),
    }),
  );
}

/**
 * As `change-instance` looks: what speaks against it is a restore under way, or that the instance is
 * deploying, or deleted.
 */
const LOOK = lookInPlace({ tolerant: true, restores: true });

/** A restart, recreate or update: all three are accepted first and pass through `deploying`. */
function action(
  context: CommandContext,
  instance: OpenInstance,
  verb: Action,
  value: InstanceOverview | undefined,
  warnings: readonly string[],
): Change {
  const pending = (value?.available_updates ?? []).map(updateLine).join(', ');
  return {
    title: `${verb} ${instance.name}`,
    warnings: [
      ...warnings,
      ...(verb === 'update' ? [`pending: ${pending || 'nothing, as far as the service tells'}`] : []),
    ],
    act: (perform) => perform({ verb, input: {} }),
    done: () => ({ fields: {}, text: `the service has taken the ${verb}` }),
    wait: followInstance(context, instance, verb, value),
  };
}

function followInstance(
  context: CommandContext,
  { service, name }: OpenInstance,
  action: Action,
  before: InstanceOverview | undefined,
): Wait {
  const updatedAt = before?.updated_at;
  const updates = before && updateLines(before);
  const input = { action, ...(updatedAt && { updatedAt }), ...(updates && { updates }) };
  return {
    until: () => ({ verb: 'waitForInstance', input }),
    command: () => `lifeboat instance show --instance ${name}`,
    show: async () => {
      const { value, raw } = await service.overview();
      await printAnswer(context, 'instance', { instance: name, raw }, () => printOverview(context, value));
    },
  };
}

function printOverview(context: CommandContext, overview: InstanceOverview): void {
  const time = (text: string | undefined) => (text === undefined ? undefined : `${formatTime(text)} UTC`);
  printFacts(context, [
    ['name', overview.name],
    ['state', overview.state],
    ['id', overview.id],
    ['service_id', overview.service_id],
    ['plan_id', overview.plan_id],
    ['organization', overview.tenant_name],
    ['space', overview.subtenant_name],
    ['created', time(overview.created_at)],
    ['updated', time(overview.updated_at)],
    ...(overview.available_updates ?? []).map((update) => ['update pending', updateLine(update)] as const),
    ...(overview.urls ?? []).map(
      (url) => [url.display_name === undefined ? 'url' : show(url.display_name, 40), url.link] as const,
    ),
  ]);
}

type AvailableUpdate = NonNullable<InstanceOverview['available_updates']>[number];

function updateLine({ name, type, version }: AvailableUpdate): string {
  return [name, type, version].filter((part) => part !== undefined).join(' ');
}

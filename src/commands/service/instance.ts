import { type Action as InstanceAction, updateLines } from '../../activities/doubt-action.ts';
import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { InstanceOverview } from '../../service/schemas.ts';
import { changeInstance } from './change.ts';
import { lookInPlace } from './look-first.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';
import type { Change, ChangeFlags, Wait, Weight } from './planned-change.ts';
import { overviewFacts, printFacts, updateLine } from './print-facts.ts';

/** `lifeboat instance show`: prints the overview (endpoint 12). */
export const instanceShow: Action<InstanceFlags> = async (context, _, flags) => {
  const answer = await askInstance(context, flags, ({ service }) => service.overview());
  await printAnswer(context, 'instance', answer, () => printOverview(context, answer.value));
  return EXIT.closed;
};

/** `lifeboat instance restart` (endpoint 14). */
export const instanceRestart = acting('restart', 'changes', [
  'the database is down while it restarts; connections are cut',
]);

/**
 * `lifeboat instance recreate` (endpoint 13). It rebuilds the instance's machines, so it asks for the name.
 */
export const instanceRecreate = acting('recreate', 'destroys', [
  'the service rebuilds the machines of the instance; the database is down meanwhile',
  'create a backup first, if there is none that is proven',
]);

/** `lifeboat instance update` (endpoint 15): starts the pending maintenance updates. */
export const instanceUpdate = acting('update', 'changes', [
  'an update cannot be undone; the database is down while it runs',
]);

/** A command that requests one action of the instance. */
function acting(verb: InstanceAction, weight: Weight, warnings: readonly string[]) {
  return (context: CommandContext, _: readonly string[], flags: ChangeFlags): Promise<number> =>
    changeInstance(context, flags, { weight, verb, look: LOOK }, async ({ instance }, { seen }) =>
      action(context, instance, verb, seen.overview, warnings),
    );
}

/** `lifeboat instance settings`: allows or forbids maintenance updates (`broker/edit`, revision 61). */
export const instanceSettings: Action<
  ChangeFlags & { readonly allowUpdates: string; readonly type: string }
> = (context, _, flags) => {
  const allowed = flags.allowUpdates === 'true';
  return changeInstance(
    context,
    flags,
    { weight: 'changes', verb: 'changeUpdateSetting', look: LOOK },
    async ({ instance }) => ({
      title: `${allowed ? 'allow' : 'forbid'} maintenance updates of ${instance.name}`,
      warnings: allowed
        ? ['the service does not report this setting: somebody may have forbidden updates on purpose']
        : ['no update, and no security fix, is installed by itself until they are allowed again'],
      act: (perform) =>
        perform({ verb: 'changeUpdateSetting', input: { setting: { type: flags.type, allowed } } }),
      done: () => ({
        fields: { settings: { type: flags.type, updatesAllowed: allowed } },
        text: `maintenance updates are ${allowed ? 'allowed' : 'forbidden'}`,
      }),
    }),
  );
};

/**
 * As `change-instance` looks: a restore in progress, and an instance that is deploying or deleted, block the
 * change.
 */
const LOOK = lookInPlace({ tolerant: true, restores: true });

/** A restart, recreate or update: the service accepts all three first, and they pass through `deploying`. */
function action(
  context: CommandContext,
  instance: OpenInstance,
  verb: InstanceAction,
  value: InstanceOverview | undefined,
  warnings: readonly string[],
): Change {
  const pending = (value?.available_updates ?? []).map(updateLine).join(', ');
  return {
    title: `${verb} ${instance.name}`,
    warnings: [
      ...warnings,
      ...(verb === 'update' ? [`pending: ${pending || 'nothing that the service reports'}`] : []),
    ],
    act: (perform) => perform({ verb, input: {} }),
    done: () => ({ fields: {}, text: `the service accepted the ${verb}` }),
    wait: followInstance(context, instance, verb, value),
  };
}

function followInstance(
  context: CommandContext,
  { service, name }: OpenInstance,
  action: InstanceAction,
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
  printFacts(context, overviewFacts(overview));
}

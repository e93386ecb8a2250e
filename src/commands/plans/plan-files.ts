import { dirname, join, resolve } from 'node:path';
import { namesIn, readBounded, whyUnread } from '../../base/bounded-file.ts';
import { EXIT, errorCode, LifeboatError } from '../../base/errors.ts';
import { mostSimilar } from '../../base/similar.ts';
import { show } from '../../base/text.ts';
import { assertTrusted } from '../../base/trusted-path.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { LONGEST_PLAN, type ReadPlan, readPlan } from '../../plans/plan-file.ts';
import type { Surroundings } from '../../plans/resolve.ts';

/** The folder of the plans: `plans` beside lifeboat.yaml. */
export function plansFolder({ path }: Pick<LoadedConfig, 'path'>): string {
  return join(dirname(path), 'plans');
}

/** The names of the plan files, sorted. Empty without a folder. */
export function planNames(config: Pick<LoadedConfig, 'path'>): readonly string[] {
  return namesIn(plansFolder(config))
    .flatMap((name) => /^(?<plan>[^.].*)\.ya?ml$/u.exec(name)?.groups?.['plan'] ?? [])
    .toSorted();
}

/** Where a plan is: `word` is its name, or a path, which has a slash or an ending. */
export function planPath(config: Pick<LoadedConfig, 'path'>, word: string): string {
  return /[/\\]|\.ya?ml$/u.test(word) ? resolve(word) : join(plansFolder(config), `${word}.yaml`);
}

/**
 * By name or path. A plan names programs to run: one that others could have written is refused
 * (`trust.refused`). Rejects with `plan.missing`, `plan.unreadable`, `plan.yaml`, `plan.invalid`.
 */
export async function planNamed(
  config: Pick<LoadedConfig, 'path'>,
  word: string,
): Promise<ReadPlan & { readonly path: string }> {
  const path = planPath(config, word);
  const bytes = await readBounded(path, LONGEST_PLAN, (opened) => assertTrusted('plan', path, opened)).catch(
    (cause: unknown) => {
      if (cause instanceof LifeboatError) throw cause;
      if (errorCode(cause) === 'ENOENT') throw missing(config, word, path);
      throw new LifeboatError('plan.unreadable', `${show(path, 200)} cannot be read: ${whyUnread(cause)}`, {
        cause,
        exitCode: EXIT.usage,
      });
    },
  );
  return { ...readPlan(bytes.toString('utf8'), path), path };
}

function missing(config: Pick<LoadedConfig, 'path'>, word: string, path: string): LifeboatError {
  const names = planNames(config);
  return new LifeboatError('plan.missing', `there is no plan ${show(word, 80)}`, {
    hints: [
      `looked for: ${show(path, 200)}`,
      ...mostSimilar(word, names),
      names.length === 0 ? 'to write a first one: lifeboat plans init NAME' : 'lifeboat plans list',
    ],
    exitCode: EXIT.usage,
  });
}

/** The parts of lifeboat.yaml that plans name. */
export function surroundingsOf({ instances, approvals, notify }: LoadedConfig): Surroundings {
  return {
    instances,
    hasApprovers: approvals !== undefined,
    notified: notify.map(({ name }) => name),
  };
}

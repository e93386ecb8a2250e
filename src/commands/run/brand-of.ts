import { readBounded, whyUnread } from '../../base/bounded-file.ts';
import { failureOf, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { loadConfig } from '../../config/load.ts';
import { type Brand, LARGEST_LOGO, logoOf } from '../../report/brand.ts';

/**
 * The name and the logo that the config gives to reports; neither without a config. A record is written
 * however the config or the logo is: what cannot be used is said on stderr and left out.
 */
export async function brandOf({
  env,
  configPath,
  stderr,
}: Pick<CommandContext, 'env' | 'configPath' | 'stderr'>): Promise<Brand> {
  let name: string | undefined;
  try {
    const { report } = await loadConfig(env, configPath);
    name = report?.name;
    if (report?.logo === undefined) return { name };
    return { name, logo: logoOf(await bytesOf(report.logo)) };
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code === 'config.missing') return {};
    const { shortMessage, hints } = failureOf(thrown);
    const rest = hints.map((hint) => `  hint: ${show(hint)}\n`).join('');
    stderr.write(`the report is written without a logo: ${show(shortMessage)}\n${rest}`);
    return { name };
  }
}

async function bytesOf(path: string): Promise<Buffer> {
  try {
    return await readBounded(path, LARGEST_LOGO);
  } catch (cause) {
    throw new LifeboatError('report.logo', `${show(path, 200)} cannot be read: ${whyUnread(cause)}`, {
      cause,
    });
  }
}

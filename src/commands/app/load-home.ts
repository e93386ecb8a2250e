import type { CommandContext } from '../../cli/context.ts';
import { loginName } from '../../compose/workspace.ts';
import { homeFolder } from '../../config/find.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { storeNamed } from '../../config/store-named.ts';
import { placeOf } from '../../service/address.ts';
import type { Home, HomeLab } from '../../view/app/home.ts';

/** What config and environment say. Opens nothing. */
export async function homeOf(context: CommandContext, config: LoadedConfig): Promise<Home> {
  const store = await storeNamed(context.env, context.configPath);
  const folder = homeFolder(context.env);
  return {
    instances: Object.entries(config.instances).map(([name, { role, rehearsal, revision, url }]) => ({
      name,
      role,
      isRehearsal: rehearsal,
      revision: String(revision),
      place: new URL(url).host,
      ...addressOf(url),
    })),
    apps: Object.values(config.instances).flatMap(({ apps = [] }) => apps.map(({ name }) => name)),
    operator: config.operator.name ?? loginName(context.env),
    folder,
    config: config.path,
    store: store === 'sqlite' ? folder : withoutPassword(store),
    lab: labIn(config),
  };
}

function labIn({ lab, instances }: LoadedConfig): HomeLab | undefined {
  if (lab === undefined) return undefined;
  const { origin, host } = new URL(lab.url);
  const elsewhere = Object.entries(instances).filter(([, { url }]) => new URL(url).origin !== origin);
  return { place: host, elsewhere: elsewhere.map(([name]) => name) };
}

function withoutPassword(address: string): string {
  return address.replace(/^(\w+:\/\/[^/@:]*):[^@/]*@/u, '$1@');
}

/** Nothing for an address that no client takes: opening the instance says what is wrong with it. */
function addressOf(url: string): { readonly address?: string } {
  try {
    return { address: placeOf(url) };
  } catch {
    return {};
  }
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { transformSync } from 'esbuild';

/** What somebody has logged in to; an empty token: they have not. `Log` names a file for every call. */
export interface CfLogin {
  readonly Target: string;
  readonly AccessToken: string;
  readonly Log?: string;
  readonly OrganizationFields?: { readonly Name: string };
  readonly SpaceFields?: { readonly Name: string };
}

/**
 * Installs the tool `cf` for the person whose home this is, and logs them in. Gives the folder for their PATH,
 * and the file of their login.
 */
export function installCf(home: string, login: CfLogin): { readonly bin: string; readonly config: string } {
  const [bin, config] = [join(home, 'bin'), join(home, '.cf/config.json')];
  for (const folder of [bin, join(home, '.cf')]) mkdirSync(folder, { recursive: true });
  // The types are removed once: Node would load its TypeScript reader again at every call.
  const source = readFileSync(join(import.meta.dirname, 'cf.ts'), 'utf8');
  const script = join(bin, 'cf.mjs');
  writeFileSync(script, transformSync(source, { loader: 'ts', target: 'node24' }).code);
  writeFileSync(join(bin, 'cf'), `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, { mode: 0o755 });
  writeFileSync(config, JSON.stringify(login), { mode: 0o600 });
  return { bin, config };
}

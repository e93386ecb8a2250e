import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { transformSync } from 'esbuild';

/** The login of the tool; an empty token for none. `Log` names a file for every call. */
export interface CfLogin {
  readonly Target: string;
  readonly AccessToken: string;
  readonly Log?: string;
  readonly OrganizationFields?: { readonly Name: string };
  readonly SpaceFields?: { readonly Name: string };
}

/**
 * Installs the tool `cf` for the person whose home this is, and logs them in. Gives the folder for their
 * PATH, and the file of their login.
 */
export function installCf(home: string, login: CfLogin): { readonly bin: string; readonly config: string } {
  const [bin, config] = [join(home, 'bin'), join(home, '.cf/config.json')];
  for (const folder of [bin, join(home, '.cf')]) mkdirSync(folder, { recursive: true });
  // The types are removed once: Node would load its TypeScript reader again at every call.
  const source = readFileSync(join(import.meta.dirname, 'cf.ts'), 'utf8');
  const script = join(bin, 'cf.mjs');
  writeFileSync(script, transformSync(source, { loader: 'ts', target: 'node24' }).code);
  const byCurl = login.Log === undefined ? BY_CURL : '';
  const tool = `#!/bin/sh\n${byCurl}exec '${process.execPath}' '${script}' "$@"\n`;
  writeFileSync(join(bin, 'cf'), tool, { mode: 0o755 });
  writeFileSync(config, JSON.stringify(login), { mode: 0o600 });
  return { bin, config };
}

/**
 * Most calls are `cf curl -i PATH`, which curl(1) does in a fifth of the time in which Node starts. It reads
 * the token from its standard input, so that no argument holds it.
 */
const BY_CURL = `IFS= read -r login < "\${CF_HOME:-$HOME}/.cf/config.json"
token=\${login#*'"AccessToken":"'} target=\${login#*'"Target":"'}
token=\${token%%'"'*} target=\${target%%'"'*}
if [ "$1 $2 $#" = 'curl -i 3' ] && [ "$token" != '' ]; then
  curl -sSi -H @- "$target$3" <<END || { echo FAILED; exit 1; }
authorization: $token
END
  exit
fi
`;

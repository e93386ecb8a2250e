import { execFileSync } from 'node:child_process';
import process from 'node:process';
import packageJson from '../package.json' with { type: 'json' };
import { ROOT } from './bundles.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
}

interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * What a package is made of, as CycloneDX JSON (https://cyclonedx.org/docs/1.5/json/): the packages whose files
 * were bundled (`bundled`: versions by name, as `packagesOf` gives them) and those that it is installed with,
 * as npm describes them; with `node`, the runtime in a single executable as well.
 */
export function billOfMaterials(
  bundled: Readonly<Record<string, string>>,
  { node }: { readonly node: boolean },
): string {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const all = JSON.parse(
    execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 }),
  ) as Bill;
  const installed = Object.keys(packageJson.dependencies);
  const isPart = ({ name, version }: Component) =>
    bundled[name]?.split(', ').includes(version) === true || installed.includes(name);
  const components = all.components.filter(isPart);
  const missing = Object.keys(bundled).filter((name) => !components.some((part) => part.name === name));
  if (missing.length > 0) throw new Error(`npm describes no ${missing.join(', ')}`);
  const refs = new Set([all.metadata.component['bom-ref'], ...components.map((part) => part['bom-ref'])]);
  const runtime = {
    'bom-ref': `node@${process.versions.node}`,
    type: 'platform',
    name: 'node',
    version: process.versions.node,
    purl: `pkg:generic/node@${process.versions.node}`,
    licenses: [{ license: { id: 'MIT' } }],
  };
  const bill = {
    ...all,
    metadata: { ...all.metadata, component: { ...all.metadata.component, name: packageJson.name } },
    components: [...components, ...(node ? [runtime] : [])],
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

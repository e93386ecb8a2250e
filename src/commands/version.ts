import { EXIT } from '../base/errors.ts';
import type { CommandContext } from '../cli/context.ts';
import { printResult } from '../cli/print-result.ts';

/** The revisions of service-api.md that have a client. */
const REVISIONS = ['v0', '61', '62'] as const;

/** `lifeboat version`: prints what a person who helps needs to know first. */
export async function version(context: CommandContext): Promise<number> {
  const facts = {
    version: context.version,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    revisions: REVISIONS,
  };
  await printResult(context, 'version', facts, () => {
    const { version: own, node, platform, revisions } = facts;
    context.stdout.write(
      `lifeboat ${own}\nNode ${node}\n${platform}\nrevisions of the service: ${revisions.join(', ')}\n`,
    );
  });
  return EXIT.closed;
}

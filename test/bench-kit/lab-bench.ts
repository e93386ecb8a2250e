import type { TestContext } from 'vitest';
import type { Query } from '../../src/lab/engine/engine.ts';
import type { Lab, LabOptions } from '../../src/lab/lab.ts';
import { startWholeLab } from './lab.ts';
import { furnish, type Machine, type MachineOptions, openMachine } from './machine.ts';
import { builtProduct, type Product } from './product.ts';

/** A lab with applications, and a person's machine that has its config and its keys. */
export interface LabBench extends Machine {
  readonly lab: Lab;
  query(instance: string): Query;
  /** Mutating calls that the service carried out: `orders POST /backups`. */
  did(): readonly string[];
}

export interface LabBenchOptions extends Omit<LabOptions, 'queryCommand'>, MachineOptions {
  /** Changes the config that the lab wrote. */
  readonly config?: (yaml: string) => string;
}

/**
 * Gives every test of a file labs with the same copy of the product; they are gone when the test has
 * finished. Their commands need no process but where a test starts one or asks for it.
 */
export function useLabs(): (
  context: Pick<TestContext, 'onTestFinished'>,
  options?: LabBenchOptions,
) => Promise<LabBench> {
  const product = builtProduct({ cheapVault: true });
  return (context, options) => openLabBench(product, context, options);
}

async function openLabBench(
  product: Product,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  { config = (yaml) => yaml, commandsHere = true, ...options }: LabBenchOptions = {},
): Promise<LabBench> {
  const query = (instance: string, folder: string) =>
    `'${process.execPath}' '${product.cli}' lab-query ${instance} --folder '${folder}'`;
  const lab = await startWholeLab({ ...options, queryCommand: query });
  const machine = openMachine(product, undefined, { commandsHere });
  onTestFinished(async () => {
    await machine.end();
    await lab.close();
    await machine.close();
  });
  furnish(machine, { config: config(lab.configYaml), passphrase: 'four words of mine' });
  for (const { name, keyFile } of lab.instances)
    if (keyFile !== undefined) await machine.good('keys', 'add', name, '--file', keyFile);
  return {
    ...machine,
    lab,
    query: (name) => {
      const found = lab.instances.find((instance) => instance.name === name);
      if (found === undefined) throw new Error(`the lab has no instance ${name}`);
      return found.query;
    },
    did: () => lab.calls().map(({ instance, endpoint }) => `${instance} ${endpoint}`),
  };
}

import { describe } from 'vitest';
import { appendContract } from './contract/append.ts';
import { bodiesContract } from './contract/bodies.ts';
import { damageContract } from './contract/damage.ts';
import { followContract } from './contract/follow.ts';
import { holdContract } from './contract/hold.ts';
import { logContract } from './contract/log.ts';
import { rowsContract } from './contract/rows.ts';
import { signedRowsContract } from './contract/signed-rows.ts';
import type { FreshStore } from './contract/store-under-test.ts';

/**
 * The promises of every store behind the port (src/store/journal.ts). `freshStore` creates an empty store for
 * one test.
 */
export function storeContract(name: string, freshStore: FreshStore): void {
  describe(`${name} keeps the contract of the store`, () => {
    appendContract(freshStore);
    bodiesContract(freshStore);
    holdContract(freshStore);
    followContract(freshStore);
    logContract(freshStore);
    damageContract(freshStore);
    rowsContract(freshStore);
    signedRowsContract(freshStore);
  });
}

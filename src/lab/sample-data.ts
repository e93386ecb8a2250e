import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Query } from './engine/engine.ts';

/**
 * Creates the sample data: customers and products never change, orders only grow. So the orders in a backup
 * of any time are a prefix of the source's, which `sampleDigest` can prove.
 */
export async function openSampleData(query: Query): Promise<void> {
  await query(SCHEMA);
  await query(SEED);
}

/** The pause after a refused order (the database is down or being restored). */
const RETRY_MS = 250;

/** Places orders until the signal, each in one transaction; an order that fails is not placed again. */
export async function keepOrdering(query: Query, perSecond: number, signal: AbortSignal): Promise<void> {
  if (perSecond <= 0) return;
  while (!signal.aborted) {
    const placed = await query('select place_order()').then(
      () => true,
      () => false,
    );
    const ms = placed ? 1000 / perSecond : RETRY_MS;
    await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

const SCHEMA = `
  create table customers (
    id int primary key,
    name text not null check (name <> ''),
    email text not null unique check (email like '%@%')
  );
  create table products (
    id int primary key,
    name text not null unique,
    price numeric(10, 2) not null check (price > 0)
  );
  create table orders (
    id bigint generated always as identity primary key,
    customer_id int not null references customers,
    total numeric(12, 2) not null check (total > 0),
    created_at timestamptz not null default clock_timestamp()
  );
  create table order_lines (
    order_id bigint not null references orders,
    line_no int not null check (line_no > 0),
    product_id int not null references products,
    quantity int not null check (quantity between 1 and 9),
    unit_price numeric(10, 2) not null check (unit_price > 0),
    primary key (order_id, line_no)
  );
  create index orders_by_customer on orders (customer_id);

  create function place_order() returns bigint language sql volatile as $$
    with line as materialized (
      select row_number() over () as line_no, picked.id as product_id,
             1 + floor(random() * 4)::int as quantity, picked.price as unit_price
      from (select id, price from products order by random() limit 1 + floor(random() * 4)::int) picked
    ), placed as (
      insert into orders (customer_id, total)
      select (select id from customers order by random() limit 1),
             (select sum(quantity * unit_price) from line)
      returning id
    ), filled as (
      insert into order_lines (order_id, line_no, product_id, quantity, unit_price)
      select placed.id, line.line_no, line.product_id, line.quantity, line.unit_price from placed, line
    )
    select id from placed
  $$;
`;

const SEED = `
  insert into customers (id, name, email)
  select n, 'Customer ' || n, 'customer' || n || '@example.com' from generate_series(1, 40) n;
  insert into products (id, name, price)
  select n, 'Product ' || n, (4.90 + n * 3.15)::numeric(10, 2) from generate_series(1, 25) n;
  select place_order() from generate_series(1, 120);
`;

export type SampleTable = 'customers' | 'products' | 'orders' | 'order_lines';

interface TableDigest {
  readonly rows: number;
  /** Highest id; 0 for an empty table. For `order_lines` the highest order. */
  readonly maxId: number;
  /** MD5 over the MD5 of every row, in key order: equal digests mean equal rows. */
  readonly md5: string;
}

export interface SampleDigest {
  readonly tables: Readonly<Record<SampleTable, TableDigest>>;
  /** Orders whose total is not the sum of their lines: more than 0 means a torn transaction. */
  readonly unbalancedOrders: number;
}

/** Digests all rows up to order `upTo` in one snapshot: equal for the same `upTo` exactly if the data is. */
export async function sampleDigest(query: Query, upTo?: number): Promise<SampleDigest> {
  const rows = await query<{
    name: SampleTable | 'unbalanced';
    rows: string;
    max_id: string;
    md5: string;
  }>(DIGEST, [upTo ?? Number.MAX_SAFE_INTEGER]);
  const digest = (name: SampleTable): TableDigest => {
    const row = rows.find((candidate) => candidate.name === name);
    return { rows: Number(row?.rows ?? 0), maxId: Number(row?.max_id ?? 0), md5: row?.md5 ?? '' };
  };
  return {
    tables: {
      customers: digest('customers'),
      products: digest('products'),
      orders: digest('orders'),
      order_lines: digest('order_lines'),
    },
    unbalancedOrders: Number(rows.find((row) => row.name === 'unbalanced')?.rows ?? 0),
  };
}

/** The rows of one moment, for comparison with what a restore brings back. */
export interface SampleRows {
  /** The result of `sampleDigest` at that time, up to the order `upTo`, without the unbalanced orders. */
  digest(upTo: number): SampleDigest['tables'];
  /** The newest order at a moment; 0 if there was none yet. */
  newestAt(moment: Date): number;
}

/** Takes the digest of every row in one statement, so in one snapshot. Keeps about 100 bytes a row. */
export async function sampleRows(query: Query): Promise<SampleRows> {
  const rows = await query<{ name: SampleTable; key: string; md5: string; at: Date | null }>(EVERY_ROW, [
    Number.MAX_SAFE_INTEGER,
  ]);
  const digest = (name: SampleTable, upTo: number): TableDigest => {
    const isOrdered = name === 'orders' || name === 'order_lines';
    const ours = rows.filter((row) => row.name === name && (!isOrdered || Number(row.key) <= upTo));
    const md5 = createHash('md5')
      .update(ours.map((row) => row.md5).join(''))
      .digest('hex');
    return { rows: ours.length, maxId: Number(ours.at(-1)?.key ?? 0), md5: ours.length === 0 ? '' : md5 };
  };
  return {
    digest: (upTo) => ({
      customers: digest('customers', upTo),
      products: digest('products', upTo),
      orders: digest('orders', upTo),
      order_lines: digest('order_lines', upTo),
    }),
    newestAt: (moment) =>
      rows.reduce(
        (newest, { at, key }) => (at !== null && at <= moment ? Math.max(newest, Number(key)) : newest),
        0,
      ),
  };
}

/* Every value is converted to text explicitly, so session settings (time zone, date style) do not matter. */
const CONTENT = `
  with content (name, key, part, line, at) as (
    select 'customers', id::bigint, 0, concat_ws('|', id, name, email), null::timestamptz from customers
    union all
    select 'products', id::bigint, 0, concat_ws('|', id, name, price), null from products
    union all
    select 'orders', id, 0,
           concat_ws('|', id, customer_id, total,
                     to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')),
           created_at
    from orders where id <= $1::bigint
    union all
    select 'order_lines', order_id, line_no,
           concat_ws('|', order_id, line_no, product_id, quantity, unit_price), null
    from order_lines where order_id <= $1::bigint
  )
`;

const EVERY_ROW = `${CONTENT} select name, key, md5(line) as md5, at from content order by name, key, part`;

const DIGEST = `
  ${CONTENT}
  select name, count(*) as rows, max(key) as max_id, md5(string_agg(md5(line), '' order by key, part)) as md5
  from content group by name
  union all
  select 'unbalanced', count(*), null, null
  from (
    select from orders left join order_lines on order_id = id where id <= $1::bigint
    group by id having sum(quantity * unit_price) is distinct from total
  ) wrong
`;

import * as z from 'zod';

/** The output of one kind of `-o json`: one object that names its schema. */
export interface Schema<Shape extends z.ZodRawShape = z.ZodRawShape> {
  /** What it is, in a few words. */
  readonly about: string;
  readonly type: z.ZodObject<Shape>;
}

/**
 * A schema of version 1. A later version of lifeboat may add fields, but removes or changes none; such a
 * change needs version 2.
 */
export function schema<const Name extends string, Shape extends z.ZodRawShape>(
  name: Name,
  about: string,
  shape: Shape,
): Schema<{ schema: z.ZodLiteral<`lifeboat.${Name}/1`> } & Shape> {
  const literal = z.literal(`lifeboat.${name}/1` as const);
  return { about, type: z.object({ schema: literal, ...shape }) as never };
}

/** A list with its elements in `items`. */
export function list<const Name extends string, Item extends z.ZodType>(
  name: Name,
  about: string,
  item: Item,
) {
  return schema(name, about, { items: z.array(item) });
}

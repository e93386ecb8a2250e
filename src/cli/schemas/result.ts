import * as z from 'zod';

/** The output of one kind of `-o json`: one object that names its schema. */
export interface Schema<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly about: string;
  readonly type: z.ZodObject<Shape>;
}

/** Version 1: later versions of lifeboat may add fields; to remove or change one needs version 2. */
export function schema<const Name extends string, Shape extends z.ZodRawShape>(
  name: Name,
  about: string,
  shape: Shape,
): Schema<{ schema: z.ZodLiteral<`lifeboat.${Name}/1`> } & Shape> {
  const literal = z.literal(`lifeboat.${name}/1` as const);
  return { about, type: z.object({ schema: literal, ...shape }) as never };
}

export function list<const Name extends string, Item extends z.ZodType>(
  name: Name,
  about: string,
  item: Item,
) {
  return schema(name, about, { items: z.array(item) });
}

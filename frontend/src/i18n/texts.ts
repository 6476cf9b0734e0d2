import type { later } from './en';
import type { shell } from './en/shell';

/** English decides which texts there are. */
export type English = typeof shell & typeof later;

/** What another language must have. */
export type Texts<T> = { [K in keyof T]: T[K] extends string ? string : Texts<T[K]> };

export type Translation = Texts<English>;

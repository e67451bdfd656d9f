// Values of one type that mean different things and must not be taken for each other. At run time a branded value is the
// plain one.
declare const brand: unique symbol;

export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

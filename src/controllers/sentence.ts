// Words of others as a sentence: with one full stop at its end, however many they bring along.
export const sentence = (words: string): string => `${words.trim().replace(/\.+$/, "")}.`;

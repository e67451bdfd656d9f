// Loaded into an operator before its own program (`node --import`): where it tosses a coin, the coin falls on the one
// side each time, so that a test does not depend on luck. Everything else that is random is still of many kinds.
const { random } = Math;
Math.random = () => random() / 2;

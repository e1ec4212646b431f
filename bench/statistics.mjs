export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const spread = (numbers) => ({
  median: median(numbers),
  least: Math.min(...numbers),
  most: Math.max(...numbers),
});

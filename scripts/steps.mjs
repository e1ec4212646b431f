// Runs the steps of a script, and goes on behind one that fails.

export const counts = { passed: 0, failed: 0 };

export async function step(title, work) {
  try {
    await work();
    counts.passed += 1;
    console.log(`ok   ${title}`);
  } catch (error) {
    counts.failed += 1;
    console.log(`FAIL ${title}`);
    console.error(error);
  }
}

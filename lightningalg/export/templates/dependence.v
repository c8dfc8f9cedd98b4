(* ==== Fields that leave the network unchanged bound the rank of its Jacobian ==== *)

(* the values of the fields at theta are linearly independent over Z (hence over Q) *)
Definition independent_fields (n : nat) (fields : list field) (theta : list Z) : Prop :=
  forall c : nat -> Z,
  (forall k, (k < n)%nat -> sum (length fields) (fun j => c j * nth k (field_at n (nth j fields []) theta) 0) = 0) ->
  forall j, (j < length fields)%nat -> c j = 0.

(* the fields' components at some places make a square matrix that is invertible modulo p; the inverse by columns *)
Definition independence_check (n : nat) (fields : list field) (theta : list Z) (p : Z) (places : list nat)
    (inverse_columns : list (list Z)) : bool :=
  (Nat.eqb (length places) (length fields) && forallb (fun c => Nat.ltb c n) places &&
  matrix_check (length fields) p
    (map (fun w => let v := field_at n w theta in map (fun c => nth c v 0) places) fields) inverse_columns)%bool.

Theorem independence_checked : forall n fields theta p places inverse_columns,
  independence_check n fields theta p places inverse_columns = true -> independent_fields n fields theta.
Proof.
  intros n fields theta p places N H c Hc. unfold independence_check in H. rewrite !Bool.andb_true_iff in H.
  destruct H as [[L Hp] H]. apply Nat.eqb_eq in L. apply (matrix_checked _ _ _ _ H). intros k Hk.
  rewrite forallb_forall in Hp. assert (P : (nth k places O < n)%nat).
  { apply Nat.ltb_lt, Hp, nth_In. lia. }
  transitivity (sum (length fields) (fun j => c j * nth (nth k places O) (field_at n (nth j fields []) theta) 0));
    [|apply Hc; exact P].
  apply sum_ext. intros j Hj. f_equal. unfold entry.
  rewrite (nth_map_or field _ _ fields j [] []) by assumption. rewrite nth_map_or with (e := O) by lia. reflexivity.
Qed.

Lemma sum_of_squares : forall n f, sum n (fun k => f k * f k) = 0 -> forall k, (k < n)%nat -> f k = 0.
Proof.
  assert (P : forall n f, 0 <= sum n (fun k : nat => f k * f k)).
  { induction n; intros f; simpl; [lia|]. specialize (IHn f). nia. }
  induction n as [|n IH]; intros f H k Hk; [lia|]. simpl in H. pose proof (P n f) as Q.
  assert (S0 : sum n (fun k => f k * f k) = 0) by nia. assert (f n = 0) by nia.
  destruct (Nat.eq_dec k n); [subst; assumption|]. apply IH; [assumption|lia].
Qed.

Lemma sum_split : forall m k f, sum (m + k) f = sum m f + sum k (fun j => f (m + j)%nat).
Proof.
  induction k as [|k IH]; intros f; [rewrite Nat.add_0_r; simpl; ring|].
  rewrite Nat.add_succ_r. simpl. rewrite IH. ring.
Qed.

(* Vectors g_i that are orthogonal to k independent vectors w_j: n - k + 1 of them are dependent. If sum c_i g_i + sum d_j w_j = 0, then
   s = sum c_i g_i has inner product 0 with itself, so s = 0. *)
Theorem orthogonal_dependent : forall n k m (g w : nat -> nat -> Z), (n < m + k)%nat ->
  (forall i j, (i < m)%nat -> (j < k)%nat -> sum n (fun x => g i x * w j x) = 0) ->
  (forall d, (forall x, (x < n)%nat -> sum k (fun j => d j * w j x) = 0) -> forall j, (j < k)%nat -> d j = 0) ->
  exists c, nontrivial m c /\ forall x, (x < n)%nat -> sum m (fun i => c i * g i x) = 0.
Proof.
  intros n k m g w Hn Ho Hw.
  destruct (dependent_rows n (m + k) (fun i => if Nat.ltb i m then g i else w (i - m)%nat)) as [e [[i [Hi Ni]] He]]; [assumption|].
  set (s := fun x => sum m (fun i => e i * g i x)).
  set (d := fun j => e (m + j)%nat).
  assert (Es : forall x, (x < n)%nat -> s x + sum k (fun j => d j * w j x) = 0).
  { intros x Hx. rewrite <- (He x Hx), sum_split. unfold s, d. f_equal; apply sum_ext; intros j Hj.
    - destruct (Nat.ltb_spec j m); [reflexivity|lia].
    - destruct (Nat.ltb_spec (m + j) m); [lia|]. replace (m + j - m)%nat with j by lia. reflexivity. }
  assert (Ortho : forall j, (j < k)%nat -> sum n (fun x => s x * w j x) = 0).
  { intros j Hj. unfold s. rewrite (sum_ext n _ (fun x => sum m (fun i => e i * (g i x * w j x)))).
    - rewrite sum_swap. apply sum_zero. intros i' Hi'. rewrite sum_scale, Ho by assumption. ring.
    - intros x _. rewrite Z.mul_comm, <- sum_scale. apply sum_ext. intros. ring. }
  assert (Zs : forall x, (x < n)%nat -> s x = 0).
  { apply sum_of_squares.
    rewrite (sum_ext n _ (fun x => (-1) * sum k (fun j => d j * (s x * w j x)))).
    - rewrite sum_scale, sum_swap, sum_zero; [ring|]. intros j Hj. rewrite sum_scale, Ortho by assumption. ring.
    - intros x Hx. rewrite (sum_ext k _ (fun j => s x * (d j * w j x))) by (intros; ring). rewrite sum_scale.
      replace (sum k (fun j => d j * w j x)) with (- s x) by (specialize (Es x Hx); lia). ring. }
  destruct (trivial_or_not m e) as [N|T]; [exists e; split; assumption|]. exfalso.
  assert (D : forall j, (j < k)%nat -> d j = 0).
  { apply Hw. intros x Hx. specialize (Es x Hx). rewrite Zs in Es by assumption. lia. }
  apply Ni. destruct (Nat.lt_ge_cases i m); [apply T; assumption|].
  replace i with (m + (i - m))%nat by lia. apply D. lia.
Qed.

(* ---- Relations that sums and products keep, are kept by networks ---- *)

(* A relation between a dual number and a family of dual numbers: between the parameters, hence between the outputs. *)
Section Relations.
Variables (t : nat) (related : dual -> (nat -> dual) -> Prop) (base : list dual) (family : nat -> list dual).
Hypothesis related_constant : forall x, snd x = 0 -> related x (fun _ => x).
Hypothesis related_add : forall x y xs ys, related x xs -> related y ys -> related (dadd x y) (fun c => dadd (xs c) (ys c)).
Hypothesis related_mul : forall x y xs ys, related x xs -> related y ys -> related (dmul x y) (fun c => dmul (xs c) (ys c)).
Hypothesis related_ext : forall x y xs ys, x = y -> (forall c, xs c = ys c) -> related y ys -> related x xs.
Hypothesis related_parameter : forall j, related (nth j base dzero) (fun c => nth j (family c) dzero).

Lemma related_sum : forall m f fs, (forall i, (i < m)%nat -> related (f i) (fun c => fs c i)) ->
  related (dsum m f) (fun c => dsum m (fs c)).
Proof.
  induction m as [|m IH]; intros f fs H; cbn [dsum]; [apply related_constant; reflexivity|].
  apply (related_add _ _ (fun c => dsum m (fs c))); [apply IH; intros; apply H; lia|apply H; lia].
Qed.
Lemma related_power : forall x xs r, related x xs -> related (power x r) (fun c => power (xs c) r).
Proof.
  induction r as [|r IH]; intros H; cbn [power]; [apply related_constant; reflexivity|].
  apply related_mul; [assumption|apply IH; assumption].
Qed.
Record related_matrix (F : matrix) (Fs : nat -> matrix) : Prop := {
  same_length : forall c, length (Fs c) = length F;
  all_rectangular : rectangular t F /\ forall c, rectangular t (Fs c);
  related_cells : forall i k, (k < t)%nat -> related (cell F i k) (fun c => cell (Fs c) i k) }.
Lemma related_matrix_intro : forall F Fs, (forall c, length (Fs c) = length F) ->
  rectangular t F /\ (forall c, rectangular t (Fs c)) ->
  (forall i k, (i < length F)%nat -> (k < t)%nat -> related (cell F i k) (fun c => cell (Fs c) i k)) ->
  related_matrix F Fs.
Proof.
  intros F Fs L R H. constructor; try assumption. intros i k Hk.
  destruct (Nat.lt_ge_cases i (length F)) as [Hi|Hi]; [apply H; assumption|].
  apply (related_ext _ dzero _ (fun _ => dzero)); [apply cell_outside; assumption| |apply related_constant; reflexivity].
  intros c. apply cell_outside. rewrite L. assumption.
Qed.

Lemma nth_firstn_outside : forall (A : Type) (x : list A) m j d, (m <= j)%nat -> nth j (firstn m x) d = d.
Proof. intros. apply nth_overflow. rewrite firstn_length. lia. Qed.
Lemma cell_rows_of_outside : forall columns j count i x, (columns <= j)%nat -> cell (rows_of count columns x) i j = dzero.
Proof.
  intros columns j. induction count; intros i x Hj; [destruct i, j; reflexivity|].
  cbn [rows_of]. rewrite cell_cons. destruct i; [apply nth_firstn_outside; assumption|apply IHcount; assumption].
Qed.
Lemma related_block : forall W i j,
  related (cell (block_matrix W base) i j) (fun c => cell (block_matrix W (family c)) i j).
Proof.
  intros W i j.
  destruct (Nat.lt_ge_cases i (rows_in W)) as [Hi|Hi]; [destruct (Nat.lt_ge_cases j (columns_in W)) as [Hj|Hj]|].
  - apply (related_ext _ (nth (place W i j) base dzero) _ (fun c => nth (place W i j) (family c) dzero));
      [|intros c|apply related_parameter]; apply cell_block; assumption.
  - apply (related_ext _ dzero _ (fun _ => dzero)); [| |apply related_constant; reflexivity];
      [|intros c]; destruct W; apply cell_rows_of_outside; assumption.
  - apply (related_ext _ dzero _ (fun _ => dzero)); [| |apply related_constant; reflexivity];
      [|intros c]; apply cell_outside; rewrite length_block; assumption.
Qed.

Lemma related_product : forall W F Fs, related_matrix F Fs ->
  related_matrix (product t (block_matrix W base) F) (fun c => product t (block_matrix W (family c)) (Fs c)).
Proof.
  intros W F Fs [L R D]. constructor.
  - intros c. rewrite !length_product, !length_block. reflexivity.
  - split; [|intros c]; apply rectangular_product.
  - intros i k Hk. eapply related_ext; [apply cell_product; assumption|intros c; rewrite cell_product, L by assumption; reflexivity|].
    apply (related_sum _ _ (fun c j => dmul (cell (block_matrix W (family c)) i j) (cell (Fs c) j k))).
    intros j Hj. apply related_mul; [apply related_block|apply D; assumption].
Qed.

Lemma related_score : forall Q K F Fs s k, related_matrix F Fs -> (s < t)%nat -> (k < t)%nat ->
  related (score t (block_matrix Q base) (block_matrix K base) F s k)
    (fun c => score t (block_matrix Q (family c)) (block_matrix K (family c)) (Fs c) s k).
Proof.
  intros Q K F Fs s k H Hs Hk. unfold score. rewrite length_block.
  eapply related_ext; [reflexivity|intros c; rewrite length_block; reflexivity|].
  apply (related_sum _ _ (fun c u => dmul (cell (product t (block_matrix K (family c)) (Fs c)) u s)
    (cell (product t (block_matrix Q (family c)) (Fs c)) u k))).
  intros u Hu. apply related_mul; apply related_cells with (1 := related_product _ F Fs H); assumption.
Qed.

Lemma related_attention : forall Q K V F Fs, related_matrix F Fs ->
  related_matrix
    (attention t (block_matrix Q base) (block_matrix K base) (block_matrix V base) F)
    (fun c => attention t (block_matrix Q (family c)) (block_matrix K (family c)) (block_matrix V (family c)) (Fs c)).
Proof.
  intros Q K V F Fs H. constructor.
  - intros c. rewrite !length_attention, !length_block. reflexivity.
  - split; [|intros c]; apply rectangular_product.
  - intros i k Hk. eapply related_ext; [apply cell_attention; assumption|intros c; apply cell_attention; assumption|].
    apply (related_sum _ _ (fun c s => dmul (cell (product t (block_matrix V (family c)) (Fs c)) i s)
      (score t (block_matrix Q (family c)) (block_matrix K (family c)) (Fs c) s k))).
    intros s Hs. apply related_mul; [|apply related_score; assumption].
    apply related_cells with (1 := related_product _ F Fs H). assumption.
Qed.

Lemma related_bias : forall b F Fs, related_matrix F Fs ->
  related_matrix (add_bias (block_matrix b base) F) (fun c => add_bias (block_matrix b (family c)) (Fs c)).
Proof.
  intros b F Fs [L [R Rs] D].
  destruct (add_bias_ok t (block_matrix b base) F R) as [LA [RA CA]].
  assert (As : forall c, _) by (intros c; exact (add_bias_ok t (block_matrix b (family c)) (Fs c) (Rs c))).
  rewrite length_block in *. apply related_matrix_intro.
  - intros c. destruct (As c) as [E _]. rewrite E, LA, length_block, L. reflexivity.
  - split; [assumption|]. intros c. destruct (As c) as [_ [E _]]. exact E.
  - intros i k Hi Hk. rewrite LA in Hi. eapply related_ext; [apply CA; assumption| |].
    + intros c. destruct (As c) as [_ [_ E]]. apply E; [rewrite length_block, L|]; assumption.
    + apply related_add; [apply related_block|apply D; assumption].
Qed.

Lemma related_activation : forall r F Fs, related_matrix F Fs ->
  related_matrix (activation r F) (fun c => activation r (Fs c)).
Proof.
  intros r F Fs [L [R Rs] D]. destruct (activation_ok t r F R) as [LA [RA CA]].
  apply related_matrix_intro.
  - intros c. destruct (activation_ok t r (Fs c) (Rs c)) as [E _]. congruence.
  - split; [assumption|]. intros c. destruct (activation_ok t r (Fs c) (Rs c)) as [_ [E _]]. exact E.
  - intros i k Hi Hk. rewrite LA in Hi. eapply related_ext; [apply CA; assumption| |apply related_power, D; assumption].
    intros c. destruct (activation_ok t r (Fs c) (Rs c)) as [_ [_ E]]. apply E; [rewrite L|]; assumption.
Qed.

Lemma related_add_matrices : forall F Fs G Gs, related_matrix F Fs -> related_matrix G Gs ->
  related_matrix (add_matrices F G) (fun c => add_matrices (Fs c) (Gs c)).
Proof.
  intros F Fs G Gs [L [R Rs] D] [L' [R' Rs'] D']. destruct (add_matrices_ok t F G R R') as [LA [RA CA]].
  assert (As : forall c, _) by (intros c; exact (add_matrices_ok t (Fs c) (Gs c) (Rs c) (Rs' c))).
  apply related_matrix_intro.
  - intros c. destruct (As c) as [E _]. congruence.
  - split; [assumption|]. intros c. destruct (As c) as [_ [E _]]. exact E.
  - intros i k Hi Hk. rewrite LA in Hi. eapply related_ext; [apply CA; assumption| |apply related_add; [apply D|apply D']; assumption].
    intros c. destruct (As c) as [_ [_ E]]. apply E. rewrite L, L'. assumption.
Qed.

Lemma related_fold : forall (values : list matrix) (vs : nat -> list matrix) others F Fs,
  (forall j, related_matrix (nth j values []) (fun c => nth j (vs c) [])) -> related_matrix F Fs ->
  related_matrix (fold_left (fun F o => add_matrices F (nth o values [])) others F)
    (fun c => fold_left (fun F o => add_matrices F (nth o (vs c) [])) others (Fs c)).
Proof.
  intros values vs. induction others as [|o others IH]; intros F Fs HV HF; [assumption|]. cbn [fold_left].
  apply (IH _ (fun c => add_matrices (Fs c) (nth o (vs c) []))); [assumption|].
  apply (related_add_matrices F Fs _ (fun c => nth o (vs c) [])); [assumption|apply HV].
Qed.

(* what is done with every value of the family, once it is computed *)
Variable finish : matrix -> matrix.
Hypothesis related_finish : forall F Fs, related_matrix F Fs -> related_matrix F (fun c => finish (Fs c)).
Definition finished_value (c number : nat) (values : list matrix) (x : node) : matrix :=
  finish (node_value t (family c) number values x).

Lemma related_run : forall net (values : list matrix) (vs : nat -> list matrix), (forall c, length (vs c) = length values) ->
  (forall j, related_matrix (nth j values []) (fun c => nth j (vs c) [])) ->
  forall j, related_matrix (nth j (collect (node_value t base) values net) [])
    (fun c => nth j (collect (finished_value c) (vs c) net) []).
Proof.
  induction net as [|x net IH]; intros values vs L H j; cbn [collect]; [apply H|].
  apply (IH _ (fun c => vs c ++ [finished_value c (length (vs c)) (vs c) x])).
  - intros c. rewrite !app_length, L. reflexivity.
  - intros i. destruct (Nat.lt_trichotomy i (length values)) as [Hi|[->|Hi]].
    + rewrite app_nth1 by assumption. pose proof (H i) as [A [B B'] C]. constructor.
      * intros c. rewrite app_nth1 by (rewrite L; assumption). apply A.
      * split; [exact B|]. intros c. rewrite app_nth1 by (rewrite L; assumption). apply B'.
      * intros a k Hk. eapply related_ext; [reflexivity| |apply C; assumption].
        intros c. rewrite app_nth1 by (rewrite L; assumption). reflexivity.
    + rewrite app_nth2, Nat.sub_diag by lia. cbn [nth].
      assert (N : related_matrix (node_value t base (length values) values x)
        (fun c => finished_value c (length (vs c)) (vs c) x)).
      { apply (related_finish _ (fun c => node_value t (family c) (length (vs c)) (vs c) x)).
        destruct x as [Q K V z|W z|b z|r z|z others]; cbn [node_value].
        - apply (related_attention Q K V _ (fun c => nth z (vs c) [])), H.
        - apply (related_product W _ (fun c => nth z (vs c) [])), H.
        - apply (related_bias b _ (fun c => nth z (vs c) [])), H.
        - apply (related_activation r _ (fun c => nth z (vs c) [])), H.
        - apply (related_fold values vs others _ (fun c => nth z (vs c) [])); [|apply H]; assumption. }
      assert (E : forall c, nth (length values) (vs c ++ [finished_value c (length (vs c)) (vs c) x]) [] =
        finished_value c (length (vs c)) (vs c) x).
      { intros c. rewrite <- (L c). rewrite app_nth2, Nat.sub_diag by lia. reflexivity. }
      destruct N as [A [B B'] C]. constructor.
      * intros c. rewrite E. apply A.
      * split; [exact B|]. intros c. rewrite E. apply B'.
      * intros a k Hk. eapply related_ext; [reflexivity| |apply C; assumption]. intros c. rewrite E. reflexivity.
    + rewrite nth_overflow by (rewrite app_length; cbn; lia). 
      assert (E : forall c, nth i (vs c ++ [finished_value c (length (vs c)) (vs c) x]) [] = []).
      { intros c. apply nth_overflow. rewrite app_length, L. cbn. lia. }
      apply related_matrix_intro.
      * intros c. rewrite E. reflexivity.
      * split; [constructor|]. intros c. rewrite E. constructor.
      * intros a k Ha. cbn in Ha. lia.
Qed.

(* -- functionals -- *)

Lemma nth_concat : forall (F : matrix) j, (0 < t)%nat -> rectangular t F ->
  nth j (concat F) dzero = cell F (j / t) (j mod t).
Proof.
  induction F as [|x F IH]; intros j Ht R; [rewrite cell_outside by (cbn; lia); destruct j; reflexivity|].
  inversion_clear R as [|? ? Hx HF]. cbn [concat]. destruct (Nat.lt_ge_cases j t) as [Hj|Hj].
  - rewrite app_nth1 by lia. rewrite Nat.div_small, Nat.mod_small by assumption. reflexivity.
  - rewrite app_nth2 by lia. rewrite IH by assumption. rewrite Hx.
    assert (E : (j = (j - t) + 1 * t)%nat) by lia.
    assert (D : (j / t = S ((j - t) / t))%nat) by (rewrite E at 1; rewrite Nat.div_add by lia; lia).
    assert (M : (j mod t = (j - t) mod t)%nat) by (rewrite E at 1; apply Nat.mod_add; lia).
    rewrite D, M. reflexivity.
Qed.
Lemma length_concat : forall F : matrix, rectangular t F -> length (concat F) = (length F * t)%nat.
Proof.
  induction F as [|x F IH]; intros R; [reflexivity|]. inversion_clear R as [|? ? Hx HF].
  cbn [concat]. rewrite app_length, IH, Hx by assumption. reflexivity.
Qed.
Lemma constant_entry : forall Y j, snd (nth j (concat (constant Y)) dzero) = 0.
Proof.
  intros Y j. unfold constant, dual. rewrite <- concat_map. unfold dzero.
  rewrite (map_nth (fun x => (x, 0)) (concat Y) 0). reflexivity.
Qed.
Lemma pairing_sum : forall Y F, rectangular t F ->
  pairing Y F = dsum (length F * t) (fun j => dmul (nth j (concat (constant Y)) dzero) (cell F (j / t) (j mod t))).
Proof.
  intros Y F R. unfold pairing. rewrite (dot_dsum _ _ (length F * t)) by (rewrite length_concat by assumption; lia).
  apply dsum_ext. intros j Hj. rewrite (nth_concat F j); [reflexivity| |assumption]. nia.
Qed.
Lemma related_pairing : forall Y F Fs, related_matrix F Fs -> related (pairing Y F) (fun c => pairing Y (Fs c)).
Proof.
  intros Y F Fs [L [R Rs] D].
  eapply related_ext; [apply pairing_sum; assumption|intros c; rewrite pairing_sum, L by apply Rs; reflexivity|].
  apply (related_sum _ _ (fun c j => dmul (nth j (concat (constant Y)) dzero) (cell (Fs c) (j / t) (j mod t)))).
  intros j Hj. apply (related_mul _ _ (fun _ => nth j (concat (constant Y)) dzero)).
  - apply related_constant, constant_entry.
  - apply D. apply Nat.mod_upper_bound. nia.
Qed.

Theorem related_outputs : forall width net output Y X, is_matrix width t X ->
  related (pairing Y (run t net output base (constant X))) (fun c => pairing Y (nth output (collect (finished_value c) [constant X] net) [])).
Proof.
  intros width net output Y X HX. destruct (constant_ok width t X HX) as [XL [XR XE]].
  assert (H0 : related_matrix (constant X) (fun _ => constant X)).
  { apply related_matrix_intro; [reflexivity|split; [|intros c]; assumption|].
    intros i k Hi Hk. apply related_constant, XE. }
  apply related_pairing. apply (related_run net [constant X] (fun _ => [constant X])); [reflexivity|].
  intros [|j]; [exact H0|]. destruct j; (apply related_matrix_intro; [reflexivity|split; [|intros c]; constructor|];
    intros i k Hi; cbn in Hi; lia).
Qed.
End Relations.

(* ---- The derivative along w is the sum of w_c times the derivative by parameter c ---- *)

Section Linearity.
Variables (n t : nat) (theta w : list Z).
Hypothesis theta_long : length theta = n.
Hypothesis w_long : length w = n.

(* x is computed along w, and xs c by parameter c *)
Definition derived (x : dual) (xs : nat -> dual) : Prop :=
  (forall c, (c < n)%nat -> fst (xs c) = fst x) /\ snd x = sum n (fun c => nth c w 0 * snd (xs c)).

Lemma derived_constant : forall x, snd x = 0 -> derived x (fun _ => x).
Proof.
  intros x H. split; [reflexivity|]. rewrite H. symmetry. apply sum_zero. intros. ring.
Qed.
Lemma derived_add : forall x y xs ys, derived x xs -> derived y ys -> derived (dadd x y) (fun c => dadd (xs c) (ys c)).
Proof.
  intros x y xs ys [X1 X2] [Y1 Y2]. split.
  - intros c Hc. cbn [dadd fst]. rewrite X1, Y1 by assumption. reflexivity.
  - cbn [dadd snd]. rewrite X2, Y2, <- sum_plus. apply sum_ext. intros. ring.
Qed.
Lemma derived_mul : forall x y xs ys, derived x xs -> derived y ys -> derived (dmul x y) (fun c => dmul (xs c) (ys c)).
Proof.
  intros x y xs ys [X1 X2] [Y1 Y2]. split.
  - intros c Hc. cbn [dmul fst]. rewrite X1, Y1 by assumption. reflexivity.
  - cbn [dmul snd].
    rewrite (sum_ext n _ (fun c => fst x * (nth c w 0 * snd (ys c)) + fst y * (nth c w 0 * snd (xs c)))).
    + rewrite sum_plus, !sum_scale, <- X2, <- Y2. ring.
    + intros c Hc. rewrite X1, Y1 by assumption. ring.
Qed.
Lemma derived_ext : forall x y xs ys, x = y -> (forall c, xs c = ys c) -> derived y ys -> derived x xs.
Proof.
  intros x y xs ys -> E [H1 H2]. split; [intros; rewrite E; apply H1; assumption|].
  rewrite H2. apply sum_ext. intros. rewrite E. reflexivity.
Qed.

Let direction (c : nat) : list dual := along theta (unit_vector n c).
Lemma derived_parameter : forall j, derived (nth j (along theta w) dzero) (fun c => nth j (direction c) dzero).
Proof.
  intros j. unfold direction, along, dzero, dual.
  apply derived_ext with (y := (nth j theta 0, nth j w 0)) (ys := fun c => (nth j theta 0, nth j (unit_vector n c) 0)).
  - apply combine_nth. congruence.
  - intros c. apply combine_nth. unfold unit_vector. rewrite map_length, seq_length. assumption.
  - split; [reflexivity|]. cbn [snd]. destruct (Nat.lt_ge_cases j n) as [Hj|Hj].
    + rewrite (sum_ext n _ (fun c => nth c w 0 * delta c j)).
      * rewrite sum_delta by assumption. reflexivity.
      * intros c Hc. f_equal. unfold unit_vector. rewrite nth_map_seq by assumption. unfold delta.
        rewrite Nat.eqb_sym. reflexivity.
    + rewrite nth_overflow by lia. symmetry. apply sum_zero. intros c Hc.
      rewrite (nth_overflow (unit_vector n c)) by (unfold unit_vector; rewrite map_length, seq_length; lia). ring.
Qed.

Theorem gradient_along : forall width net output Y X, is_matrix width t X ->
  snd (pairing Y (run t net output (along theta w) (constant X))) =
  sum n (fun c => gradient (run t net output) n theta Y X c * nth c w 0).
Proof.
  intros width net output Y X HX.
  destruct (related_outputs t derived (along theta w) direction derived_constant derived_add derived_mul derived_ext
    derived_parameter (fun F => F) (fun _ _ H => H) width net output Y X HX) as [_ E].
  rewrite E. apply sum_ext. intros c Hc.
  transitivity (nth c w 0 * gradient (run t net output) n theta Y X c); [reflexivity|ring].
Qed.
End Linearity.

(* ---- The bound ---- *)

Lemma zero_entry : forall rows columns i k, nth k (nth i (zero_matrix rows columns) []) 0 = 0.
Proof.
  intros. unfold zero_matrix. destruct (Nat.lt_ge_cases i rows) as [Hi|Hi].
  - rewrite (nth_indep _ [] (repeat 0 columns)) by (rewrite repeat_length; assumption). rewrite nth_repeat. apply nth_repeat.
  - rewrite (nth_overflow (repeat (repeat 0 columns) rows)) by (rewrite repeat_length; assumption). destruct k; reflexivity.
Qed.
Lemma pairing_zero : forall Y F rows columns, map (map snd) F = zero_matrix rows columns -> snd (pairing Y F) = 0.
Proof.
  intros Y F rows columns H. unfold pairing.
  assert (Z0 : forall j, snd (nth j (concat F) dzero) = 0).
  { assert (A : Forall (fun x => snd x = 0) (concat F)).
    { apply Forall_concat, Forall_forall. intros x Hx. apply Forall_forall. intros a Ha.
      apply (In_nth _ _ dzero) in Ha. destruct Ha as [k [Hk Ek]]. apply (In_nth _ _ []) in Hx. destruct Hx as [i [Hi Ei]].
      pose proof (zero_entry rows columns i k) as E. rewrite <- H in E.
      rewrite nth_map_or with (e := []) in E by assumption. rewrite Ei in E.
      rewrite nth_map_or with (e := dzero) in E by assumption. rewrite Ek in E. exact E. }
    intros j. destruct (Nat.lt_ge_cases j (length (concat F))) as [Hj|Hj].
    - rewrite Forall_forall in A. apply A, nth_In. assumption.
    - rewrite nth_overflow by assumption. reflexivity. }
  rewrite (dot_dsum _ _ (length (concat F)) (le_n _)), snd_dsum. apply sum_zero. intros j Hj. cbn [dmul snd].
  rewrite Z0, constant_entry. ring.
Qed.

(* Where the fields are independent, more than n - (number of fields) gradients are linearly dependent. *)
Theorem checked_fields_bound_the_rank : forall n width height t net output checked,
  check_fields n width height t net output checked = true ->
  forall theta, length theta = n -> independent_fields n (map fst checked) theta ->
  forall m, (n < m + length checked)%nat ->
  forall Y X : nat -> list (list Z), (forall i, (i < m)%nat -> is_matrix width t (X i)) ->
  exists c : nat -> Z, (exists i, (i < m)%nat /\ c i <> 0) /\
  forall k, (k < n)%nat -> sum m (fun i => c i * gradient (run t net output) n theta (Y i) (X i) k) = 0.
Proof.
  intros n width height t net output checked HC theta Htheta HI m Hm Y X HX.
  set (w := fun j => field_at n (nth j (map fst checked) []) theta).
  apply (orthogonal_dependent n (length checked) m (fun i => gradient (run t net output) n theta (Y i) (X i))
    (fun j x => nth x (w j) 0)); [assumption| |].
  - intros i j Hi Hj. rewrite <- (gradient_along n t theta (w j) Htheta) with (width := width); [| |apply HX; assumption].
    + apply pairing_zero with (rows := height) (columns := t).
      apply (checked_fields_are_symmetries n width height t net output checked HC); [|assumption|apply HX; assumption].
      apply nth_In. rewrite map_length. assumption.
    + unfold w, field_at. rewrite map_length. apply seq_length.
  - intros d Hd. unfold independent_fields in HI. rewrite map_length in HI. apply HI. exact Hd.
Qed.

(* ==== Proof that the checker is right ==== *)

(* 1. Forms: the value of a sum is the sum of the values, and so on; values of layers by their numbers.
   2. Layers: entries of products, sums, powers over the dual numbers; thin matrices; the change of scores.
   3. Every row of every value has its form's value as real part, and its variation's as eps-part: by induction over the layers. *)

(* ---- Sums of terms, polynomials, forms ---- *)

Section MergeTotal.
Variables (C K : Type) (compare : K -> K -> comparison) (plus : C -> C -> C) (is_zero : C -> bool).
Variables (cv : C -> Z) (kv : K -> Z).
Hypothesis compare_eq : forall k l, compare k l = Eq -> k = l.
Hypothesis plus_ok : forall c d, cv (plus c d) = cv c + cv d.
Hypothesis zero_ok : forall c, is_zero c = true -> cv c = 0.
Let add := merge C K compare plus is_zero.
Lemma merge_cons : forall c k x d l y, add ((c, k) :: x) ((d, l) :: y) =
  match compare k l with
  | Lt => (c, k) :: add x ((d, l) :: y)
  | Gt => (d, l) :: add ((c, k) :: x) y
  | Eq => let e := plus c d in if is_zero e then add x y else (e, k) :: add x y
  end.
Proof. reflexivity. Qed.
Lemma merge_total : forall x y, total cv kv (add x y) = total cv kv x + total cv kv y.
Proof.
  induction x as [|[c k] x IHx]; [destruct y; reflexivity|].
  induction y as [|[d l] y IHy]; [cbn [total]; unfold add; cbn [merge total]; ring|].
  rewrite merge_cons. destruct (compare k l) eqn:E.
  - apply compare_eq in E. subst l. pose proof (plus_ok c d) as P. cbv zeta.
    destruct (is_zero (plus c d)) eqn:F; cbn [total]; rewrite IHx.
    + apply zero_ok in F. replace (cv d) with (- cv c) by lia. ring.
    + rewrite P. ring.
  - cbn [total]. rewrite IHx. cbn [total]. ring.
  - cbn [total] in *. rewrite IHy. ring.
Qed.
End MergeTotal.

Lemma monomial_compare_eq : forall m m', monomial_compare m m' = Eq -> m = m'.
Proof.
  induction m as [|a m IH]; intros [|b m'] H; try discriminate; [reflexivity|]. cbn in H.
  destruct (Z.compare_spec a b); try discriminate. subst. f_equal. apply IH. assumption.
Qed.

Lemma symbol_compare_eq : forall x y, symbol_compare x y = Eq -> x = y.
Proof.
  induction x as [i| |e i|e i i'|a x IH]; intros [j| |f j|f j j'|b y] H; try discriminate; cbn in H; try reflexivity.
  - apply Nat.compare_eq in H. congruence.
  - destruct (Nat.compare e f) eqn:E; try discriminate. apply Nat.compare_eq in E, H. congruence.
  - destruct (Nat.compare e f) eqn:E; try discriminate. destruct (Nat.compare i j) eqn:F; try discriminate.
    apply Nat.compare_eq in E, F, H. congruence.
  - destruct (Nat.compare a b) eqn:E; try discriminate. apply Nat.compare_eq in E. subst. f_equal. apply IH. assumption.
Qed.

Lemma monomial_product_cons : forall a m b m', monomial_product (a :: m) (b :: m') =
  if Z.leb a b then a :: monomial_product m (b :: m') else b :: monomial_product (a :: m) m'.
Proof. reflexivity. Qed.
Lemma monomial_product_value : forall theta m m',
  monomial_value theta (monomial_product m m') = monomial_value theta m * monomial_value theta m'.
Proof.
  intros theta. induction m as [|a m IH]; [intros [|b m']; cbn -[Z.mul]; ring|].
  induction m' as [|b m' IH']; [cbn -[Z.mul]; ring|].
  rewrite monomial_product_cons. destruct (Z.leb a b); cbn [monomial_value].
  - rewrite IH. cbn [monomial_value]. ring.
  - rewrite IH'. cbn [monomial_value]. ring.
Qed.

Lemma polynomial_sum_value : forall theta p q,
  value theta (polynomial_sum p q) = value theta p + value theta q.
Proof.
  intros. apply merge_total; [exact monomial_compare_eq|reflexivity|].
  intros c H. apply Z.eqb_eq in H. congruence.
Qed.

Lemma polynomial_product_value : forall theta p q,
  value theta (polynomial_product p q) = value theta p * value theta q.
Proof.
  intros theta p q. induction p as [|[c m] p IH]; [reflexivity|].
  cbn [polynomial_product fold_right]. fold (polynomial_product p q). rewrite polynomial_sum_value, IH.
  change (value theta ((c, m) :: p)) with (c * monomial_value theta m + value theta p). cbn [fst snd].
  assert (E : value theta
      (map (fun other => (c * fst other, monomial_product m (snd other))) q) = c * monomial_value theta m * value theta q).
  { clear IH. unfold value. induction q as [|[d l] q IHq]; cbn [map total fst snd]; [ring|].
    rewrite IHq, monomial_product_value. ring. }
  rewrite E. ring.
Qed.

Lemma number_value : forall theta c, value theta (number c) = c.
Proof.
  intros. unfold number. destruct (Z.eqb_spec c 0); [subst; reflexivity|].
  unfold value. cbn [total monomial_value]. ring.
Qed.

Section FormValue.
Variables (theta : list Z) (sv : symbol -> Z).
Definition form_value (f : form) : Z := total (value theta) sv f.

Lemma form_add_value : forall f g, form_value (form_add f g) = form_value f + form_value g.
Proof.
  intros. apply merge_total; [exact symbol_compare_eq|apply polynomial_sum_value|].
  intros [|c x]; [reflexivity|discriminate].
Qed.

Lemma scale_value : forall p f, form_value (scale p f) = value theta p * form_value f.
Proof.
  intros p f. assert (E : form_value (map (fun term => (polynomial_product p (fst term), snd term)) f)
    = value theta p * form_value f).
  { unfold form_value. induction f as [|[q x] f IH]; cbn [map total fst snd]; [ring|].
    rewrite IH, polynomial_product_value. ring. }
  destruct p; [reflexivity|exact E].
Qed.

Lemma form_sum_value : forall n f, form_value (form_sum n f) = sum n (fun i => form_value (f i)).
Proof. induction n; intros f; cbn [form_sum sum]; [reflexivity|]. rewrite form_add_value, IHn. reflexivity. Qed.

Lemma form_is_zero_value : forall f, form_is_zero f = true -> form_value f = 0.
Proof.
  unfold form_value. induction f as [|[q x] f IH]; intros H; [reflexivity|]. cbn in H.
  destruct q; [|discriminate]. cbn [total]. rewrite IH by assumption. reflexivity.
Qed.

Lemma form_equal_value : forall f g, form_equal f g = true -> form_value f = form_value g.
Proof.
  intros f g H. apply form_is_zero_value in H. rewrite form_add_value, scale_value, number_value in H. lia.
Qed.

Lemma unit_value : forall x, form_value [(number 1, x)] = sv x.
Proof. intros. unfold form_value. cbn [total]. rewrite number_value. ring. Qed.

Lemma add_forms_value : forall y z i, length z = length y ->
  form_value (row (add_forms y z) i) = form_value (row y i) + form_value (row z i).
Proof.
  intros y z i H. unfold add_forms. destruct (Nat.lt_ge_cases i (length y)) as [L|L].
  - unfold row at 1. rewrite nth_map_seq by assumption. apply form_add_value.
  - unfold row. rewrite !nth_overflow by (rewrite ?map_length, ?seq_length; lia). reflexivity.
Qed.

Lemma product_row_value : forall entries z i,
  form_value (product_row entries z i) = sum (length z) (fun j => value theta (entries i j) * form_value (row z j)).
Proof. intros. unfold product_row. rewrite form_sum_value. apply sum_ext. intros. apply scale_value. Qed.
End FormValue.

(* ---- One value after another ---- *)

Section Collect.
Variables (A B : Type) (d : A) (e : B) (step : nat -> list A -> B -> A) (reads_of : B -> list nat).
Hypothesis local : forall k x y b, (forall z, In z (reads_of b) -> nth z x d = nth z y d) -> step k x b = step k y b.

Lemma length_collect : forall items x, length (collect step x items) = (length x + length items)%nat.
Proof.
  induction items as [|b items IH]; intros x; cbn [collect length]; [lia|]. rewrite IH, app_length. cbn. lia.
Qed.
Lemma collect_before : forall items x j, (j < length x)%nat -> nth j (collect step x items) d = nth j x d.
Proof.
  induction items as [|b items IH]; intros x j Hj; cbn [collect]; [reflexivity|].
  rewrite IH by (rewrite app_length; cbn; lia). apply app_nth1. assumption.
Qed.
Lemma collect_from : forall items x,
  (forall i, (i < length items)%nat -> forall z, In z (reads_of (nth i items e)) -> (z < length x + i)%nat) ->
  forall i, (i < length items)%nat ->
  nth (length x + i) (collect step x items) d = step (length x + i)%nat (collect step x items) (nth i items e).
Proof.
  induction items as [|b items IH]; intros x Hr i Hi; [cbn in Hi; lia|]. cbn [collect].
  set (y := x ++ [step (length x) x b]). assert (Y : length y = S (length x)) by (unfold y; rewrite app_length; cbn; lia).
  destruct i as [|i].
  - rewrite Nat.add_0_r, collect_before by lia. unfold y at 1. rewrite app_nth2, Nat.sub_diag by lia. cbn [nth].
    apply local. intros z Hz. assert (L : (z < length x)%nat) by (specialize (Hr O ltac:(cbn; lia) z Hz); lia).
    rewrite collect_before by lia. unfold y. rewrite app_nth1 by lia. reflexivity.
  - replace (length x + S i)%nat with (length y + i)%nat by lia. cbn [nth]. apply IH; [|cbn in Hi; lia].
    intros k Hk z Hz. specialize (Hr (S k) ltac:(cbn; lia) z Hz). lia.
Qed.
(* every value is made, by its item, from the final list *)
Lemma collect_value : forall items x0,
  (forall i, (i < length items)%nat -> forall z, In z (reads_of (nth i items e)) -> (z < S i)%nat) ->
  forall i, (i < length items)%nat ->
  nth (S i) (collect step [x0] items) d = step (S i) (collect step [x0] items) (nth i items e).
Proof. intros items x0 Hr i Hi. exact (collect_from items [x0] Hr i Hi). Qed.
Lemma collect_start : forall items x0, nth 0 (collect step [x0] items) d = x0.
Proof. intros. rewrite collect_before by (cbn; lia). reflexivity. Qed.
End Collect.

Lemma fold_left_local : forall (A : Type) (d : A) (add : A -> A -> A) others (x y : list A) u,
  (forall z, In z others -> nth z x d = nth z y d) ->
  fold_left (fun F o => add F (nth o x d)) others u = fold_left (fun F o => add F (nth o y d)) others u.
Proof.
  induction others as [|o others IH]; intros x y u H; [reflexivity|]. cbn [fold_left].
  rewrite (H o) by (left; reflexivity). apply IH. intros z Hz. apply H. right. assumption.
Qed.

Lemma node_value_local : forall t theta k (x y : list matrix) b,
  (forall z, In z (reads b) -> nth z x [] = nth z y []) -> node_value t theta k x b = node_value t theta k y b.
Proof.
  intros t theta k x y [Q K V z|W z|W z|r z|z others] H; cbn [node_value reads] in *; rewrite (H z) by (left; reflexivity);
    try reflexivity.
  apply fold_left_local. intros o Ho. apply H. right. assumption.
Qed.
Lemma node_forms_local : forall k (x y : list (list form)) b,
  (forall z, In z (reads b) -> nth z x [] = nth z y []) -> node_forms k x b = node_forms k y b.
Proof.
  intros k x y [Q K V z|W z|W z|r z|z others] H; cbn [node_forms reads] in *; rewrite (H z) by (left; reflexivity);
    try reflexivity.
  apply fold_left_local. intros o Ho. apply H. right. assumption.
Qed.
Lemma node_change_local : forall w forms k (x y : list (list form)) item,
  (forall z, In z (reads (fst item)) -> nth z x [] = nth z y []) ->
  node_change w forms k x item = node_change w forms k y item.
Proof.
  intros w forms k x y [[Q K V z|W z|W z|r z|z others] wit] H; unfold node_change; cbn [fst snd reads] in *;
    rewrite (H z) by (left; reflexivity); try reflexivity.
  apply fold_left_local. intros o Ho. apply H. right. assumption.
Qed.
Lemma node_thin_local : forall t forms k (x y : list bool) b,
  (forall z, In z (reads b) -> nth z x false = nth z y false) -> node_thin t forms k x b = node_thin t forms k y b.
Proof.
  intros t forms k x y [Q K V z|W z|W z|r z|z others] H; unfold node_thin; cbn [reads] in *;
    rewrite ?(H z) by (left; reflexivity); reflexivity.
Qed.
